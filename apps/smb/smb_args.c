/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_args.h"

void
args_smbopinfo(struct smbopinfo *info, const struct smb_message *message)
{
	(void)message;
	*info = (struct smbopinfo){0};
}
