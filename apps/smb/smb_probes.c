/* SPDX-License-Identifier: BSD-2-Clause */
/* The smb probes: arguments, firing, printing. */
#include "apps/smb/smb.h"

#include <stdio.h>

#include "apps/app.h"
#include "base/text.h"
#include "probes/fire.h"
#include "probes/netobs.h"
#include "probes/print/text_line.h"
#include "probes/site/semaphores.h"

/* Copies a name; without one, the number in hexadecimal. */
static void
args_smb_name(char *to, size_t size, const char *name, unsigned number)
{
	if (name != NULL)
		snprintf(to, size, "%s", name);
	else
		snprintf(to, size, "0x%x", number);
}

void
args_smbopinfo(struct smbopinfo *info, const struct smb_operation *operation)
{
	*info = (struct smbopinfo){.soi_sid = operation->session_id,
				   .soi_uid = operation->session_id,
				   .soi_mid = operation->message_id,
				   .soi_offset = operation->offset,
				   .soi_count = operation->count,
				   .soi_tid = operation->tree_id,
				   .soi_status = operation->status,
				   .soi_flags = operation->flags,
				   .soi_op = operation->command,
				   .soi_dialect = operation->dialect,
				   .soi_encrypted = operation->encrypted,
				   .soi_signed = (operation->flags & SMB_FLAG_SIGNED) != 0,
				   .soi_latency_us = operation->latency_us};
	snprintf(info->soi_share, sizeof info->soi_share, "%s", operation->share);
	snprintf(info->soi_curpath, sizeof info->soi_curpath, "%s", operation->path);
	args_smb_name(info->soi_opstr, sizeof info->soi_opstr, smb_command_name(operation->command),
		      operation->command);
	if (operation->from_server && !operation->encrypted)
		args_smb_name(info->soi_statusstr, sizeof info->soi_statusstr, smb_status_name(operation->status),
			      operation->status);
	if (operation->dialect != 0)
		args_smb_name(info->soi_dialectstr, sizeof info->soi_dialectstr,
			      smb_dialect_name(operation->dialect), operation->dialect);
}

/* Fires the probe of a struct smb_operation, unless it is not enabled. */
static void
smb_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	const struct smb_operation *operation = message;
	enum probe_id probe = operation->from_server ? PROBE_SMB_OP_DONE : PROBE_SMB_OP_START;
	struct smbopinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_smbopinfo(&info, operation);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}

static char *
smb_format_line(char *at, const struct text_firing *firing)
{
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct smbopinfo *soi = firing->arg[STRUCT_SMBOPINFO];

	if (ci == NULL || soi == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, ci->ci_local, ci->ci_lport, ci->ci_remote, ci->ci_rport);
	at = APP_PUT_TEXT(at, ", ", soi->soi_opstr);
	at = APP_PUT_TEXT(at, ", share ", soi->soi_share);
	at = APP_PUT_TEXT(at, ", path ", soi->soi_curpath);
	if (soi->soi_op == SMB_READ || soi->soi_op == SMB_WRITE) {
		at = app_put_number(at, ", offset ", soi->soi_offset);
		at = app_put_number(at, ", count ", soi->soi_count);
	}
	at = APP_PUT_TEXT(at, ", status ", soi->soi_statusstr);
	at = app_put_time(at, ", latency ", soi->soi_latency_us);
	at = soi->soi_signed != 0 ? PUT(at, ", signed") : at;
	at = app_put_number(at, ", mid ", soi->soi_mid);
	return app_put_number(at, ", cid ", ci->ci_cid);
}

const struct app_protocol smb_app = {
    .name = "smb",
    .ports = {.port = {139, 445}, .count = 2},
    .reader = &smb_reader,
    .first = PROBE_SMB_OP_START,
    .last = PROBE_SMB_OP_DONE,
    .fire = smb_fire,
    .text = {STRUCT_SMBOPINFO, smb_format_line},
};
