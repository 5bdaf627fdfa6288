/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB 2 and 3 (MS-SMB2): a message, from bytes to fields. */
#ifndef NETOBS_APPS_SMB_SMB_MESSAGE_H
#define NETOBS_APPS_SMB_SMB_MESSAGE_H

struct smb_message {
	int unused;
};

#endif
