/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_print.h"

#include "probes/netobs.h"

char *
http_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];

	if (ci == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
