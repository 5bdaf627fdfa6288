/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of the smb probes. */
#ifndef NETOBS_APPS_SMB_SMB_ARGS_H
#define NETOBS_APPS_SMB_SMB_ARGS_H

#include "apps/smb/smb_reader.h"
#include "probes/netobs.h"

void args_smbopinfo(struct smbopinfo *info, const struct smb_operation *operation);

#endif
