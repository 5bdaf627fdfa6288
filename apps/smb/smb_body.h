/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB 2 and 3 (MS-SMB2 section 2.2): what follows the header of a message, as far as the probes need it. */
#ifndef NETOBS_APPS_SMB_SMB_BODY_H
#define NETOBS_APPS_SMB_SMB_BODY_H

#include "apps/smb/smb_message.h"

#define SMB_FILE_ID_BYTES 16

/* Bytes of a name that are enough for any probe argument. */
#define SMB_NAME_BYTES 510u

struct smb_body {
	struct slice name; /* UTF-16LE path of a share or file in a request; empty if `bytes` end before it does */
	uint64_t offset;   /* read, write: first byte in the file */
	uint32_t count;	   /* read, write: bytes */
	uint16_t dialect;  /* negotiate response */
	bool has_file;
	bool binding; /* session setup request: the connection is to be a channel of a session that exists */
	uint8_t file_id[SMB_FILE_ID_BYTES];
};

enum smb_body_result {
	SMB_BODY_COMPLETE,
	SMB_BODY_CUT,	/* the capture has fewer bytes than the message: the fields are 0 */
	SMB_BODY_ERROR, /* an error response, or one that has no fields of interest: the fields are 0 */
	SMB_BODY_BAD,	/* shorter than its command demands, or lengths that lie: the fields are 0 */
};

/* Parses a message from its header on: `bytes` are the first ones of `length`, `message` is its header. */
enum smb_body_result smb_body_parse(struct smb_body *body, const struct smb_message *message, struct slice bytes,
				    uint32_t length);

#endif
