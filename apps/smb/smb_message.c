/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_message.h"

#define SMB_ID_SMB1	  0xff534d42u
#define SMB_ID_PLAIN	  0xfe534d42u
#define SMB_ID_ENCRYPTED  0xfd534d42u
#define SMB_ID_COMPRESSED 0xfc534d42u

static bool
smb_next_is_valid(uint32_t next, uint32_t length)
{
	if (next == 0)
		return true;
	return next >= SMB_HEADER_BYTES && next % 8 == 0 && next <= length && length - next >= SMB_HEADER_BYTES;
}

static void
smb_header_read(struct smb_message *message, struct slice bytes)
{
	message->command = smb_u16(bytes, 12);
	message->flags = smb_u32(bytes, 16);
	message->next = smb_u32(bytes, 20);
	message->message_id = smb_u64(bytes, 24);
	message->session_id = smb_u64(bytes, 40);
	/* In a request these bytes are the channel sequence. */
	if (message->flags & SMB_FLAG_RESPONSE)
		message->status = smb_u32(bytes, 8);
	if (message->flags & SMB_FLAG_ASYNC)
		message->async_id = smb_u64(bytes, 32);
	else
		message->tree_id = smb_u32(bytes, 36);
}

static enum smb_kind
smb_plain_parse(struct smb_message *message, struct slice bytes, uint32_t rest)
{
	if (bytes.len < SMB_HEADER_BYTES)
		return SMB_KIND_SHORT;
	if (smb_u16(bytes, 4) != SMB_HEADER_BYTES)
		return SMB_KIND_BAD_SIZE;
	if (!smb_next_is_valid(smb_u32(bytes, 20), rest))
		return SMB_KIND_BAD_NEXT;
	smb_header_read(message, bytes);
	return SMB_KIND_PLAIN;
}

bool
smb_message_is_certain(struct slice bytes)
{
	uint32_t id;

	if (bytes.len < 6)
		return false;
	id = slice_u32(bytes, 0);
	return id == SMB_ID_ENCRYPTED || (id == SMB_ID_PLAIN && smb_u16(bytes, 4) == SMB_HEADER_BYTES);
}

enum smb_kind
smb_message_parse(struct smb_message *message, struct slice bytes, uint32_t rest)
{
	*message = (struct smb_message){0};
	if (bytes.len < 4)
		return SMB_KIND_SHORT;
	switch (slice_u32(bytes, 0)) {
	case SMB_ID_PLAIN:
		return smb_plain_parse(message, bytes, rest);
	case SMB_ID_SMB1:
		return SMB_KIND_SMB1;
	case SMB_ID_COMPRESSED:
		return SMB_KIND_COMPRESSED;
	case SMB_ID_ENCRYPTED:
		if (bytes.len < SMB_TRANSFORM_BYTES)
			return SMB_KIND_SHORT;
		message->session_id = smb_u64(bytes, 44);
		return SMB_KIND_ENCRYPTED;
	default:
		return SMB_KIND_UNKNOWN;
	}
}
