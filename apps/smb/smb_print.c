/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_print.h"

#include "apps/smb/smb_message.h"
#include "probes/netobs.h"

/* A text, unless it is empty. */
static char *
put_smb_text(char *at, const char *what, const char *text, size_t size)
{
	if (text[0] == '\0')
		return at;
	at = put_string(at, what);
	return put_plain_text(at, text, size);
}

static char *
put_smb_number(char *at, const char *what, uint64_t number)
{
	at = put_string(at, what);
	return put_u64(at, number);
}

char *
smb_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct smbopinfo *soi = firing->arg[STRUCT_SMBOPINFO];

	if (ci == NULL || soi == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = put_smb_text(at, ", ", soi->soi_opstr, sizeof soi->soi_opstr);
	at = put_smb_text(at, ", share ", soi->soi_share, sizeof soi->soi_share);
	at = put_smb_text(at, ", path ", soi->soi_curpath, sizeof soi->soi_curpath);
	if (soi->soi_op == SMB_READ || soi->soi_op == SMB_WRITE) {
		at = put_smb_number(at, ", offset ", soi->soi_offset);
		at = put_smb_number(at, ", count ", soi->soi_count);
	}
	at = put_smb_text(at, ", status ", soi->soi_statusstr, sizeof soi->soi_statusstr);
	if (soi->soi_latency_us >= 0) {
		at = put_smb_number(at, ", latency ", (uint64_t)soi->soi_latency_us);
		at = PUT(at, " us");
	}
	at = soi->soi_signed != 0 ? PUT(at, ", signed") : at;
	at = put_smb_number(at, ", mid ", soi->soi_mid);
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
