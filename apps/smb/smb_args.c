/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_args.h"

#include <stdio.h>

#include "apps/smb/smb_names.h"

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
