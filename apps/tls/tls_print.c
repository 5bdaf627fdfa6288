/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_print.h"

#include "probes/netobs.h"

/* A text, unless it is empty. */
static char *
put_tls_text(char *at, const char *what, const char *text, size_t size)
{
	if (text[0] == '\0')
		return at;
	at = put_string(at, what);
	return put_plain_text(at, text, size);
}

static char *
put_tls_latency(char *at, const char *what, int64_t us)
{
	if (us < 0)
		return at;
	at = put_string(at, what);
	at = put_i64(at, us);
	return PUT(at, " us");
}

char *
tls_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct tlsinfo *tls = firing->arg[STRUCT_TLSINFO];

	if (ci == NULL || tls == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = put_tls_text(at, ", from ", tls->tls_from, sizeof tls->tls_from);
	at = put_tls_text(at, ", sni ", tls->tls_sni, sizeof tls->tls_sni);
	at = put_tls_text(at, ", alpn ", tls->tls_alpn, sizeof tls->tls_alpn);
	at = put_tls_text(at, ", version ", tls->tls_versionstr, sizeof tls->tls_versionstr);
	at = put_tls_text(at, ", cipher ", tls->tls_cipherstr, sizeof tls->tls_cipherstr);
	at = put_tls_text(at, ", ja4 ", tls->tls_ja4, sizeof tls->tls_ja4);
	at = put_tls_text(at, ", alert ", tls->tls_alertstr, sizeof tls->tls_alertstr);
	at = put_tls_latency(at, ", hello ", tls->tls_hello_us);
	at = put_tls_latency(at, ", handshake ", tls->tls_handshake_us);
	at = tls->tls_resumed != 0 ? PUT(at, ", resumed") : at;
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
