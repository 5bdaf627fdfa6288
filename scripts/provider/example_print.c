/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/example/example_print.h"

#include "probes/netobs.h"

char *
example_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct exampleinfo *ex = firing->arg[STRUCT_EXAMPLEINFO];

	if (ci == NULL || ex == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = PUT(at, ", text ");
	at = PUT_FIELD(at, ex->ex_text);
	at = PUT(at, ", length ");
	at = put_u32(at, ex->ex_length);
	at = PUT(at, ", cid ");
	return put_u64(at, ci->ci_cid);
}
