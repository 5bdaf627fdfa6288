/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/iscsi/iscsi_print.h"

#include "probes/netobs.h"

/* A name, unless it is empty. */
static char *
put_iscsi_name(char *at, const char *what, const char *name, size_t size)
{
	if (name[0] == '\0')
		return at;
	at = put_string(at, what);
	return put_plain_text(at, name, size);
}

static char *
put_iscsi_number(char *at, const char *what, uint32_t value)
{
	if (value == 0)
		return at;
	at = put_string(at, what);
	return put_u32(at, value);
}

char *
iscsi_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct iscsiinfo *ii = firing->arg[STRUCT_ISCSIINFO];
	const struct iscsicmd *ic = firing->arg[STRUCT_ISCSICMD];

	if (ci == NULL || ii == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = put_iscsi_name(at, ", target ", ii->ii_target, sizeof ii->ii_target);
	at = put_iscsi_name(at, ", initiator ", ii->ii_initiator, sizeof ii->ii_initiator);
	if (ic != NULL) {
		at = PUT(at, ", ");
		at = PUT_FIELD(at, ic->ic_opstr);
		at = PUT(at, ", lun ");
		at = put_u64(at, ii->ii_lun);
	}
	at = PUT(at, ", itt ");
	at = put_hex(at, ii->ii_itt, 8);
	at = PUT(at, ", flags ");
	at = put_hex(at, ii->ii_flags, 2);
	at = put_iscsi_number(at, ", expects ", ii->ii_xferlen);
	at = put_iscsi_number(at, ", at ", ii->ii_offset);
	at = put_iscsi_number(at, ", data ", ii->ii_datalen);
	if (ii->ii_status != 0) {
		at = PUT(at, ", status ");
		at = put_hex(at, ii->ii_status, 4);
	}
	at = put_iscsi_number(at, ", response ", ii->ii_response);
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
