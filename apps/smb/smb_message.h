/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB 2 and 3 (MS-SMB2): the header of a message, from bytes to fields. */
#ifndef NETOBS_APPS_SMB_SMB_MESSAGE_H
#define NETOBS_APPS_SMB_SMB_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/cursor.h"

#define SMB_HEADER_BYTES    64 /* of a plain message (section 2.2.1) */
#define SMB_TRANSFORM_BYTES 52 /* of an encrypted message (section 2.2.41) */

#define SMB_FLAG_RESPONSE 0x1
#define SMB_FLAG_ASYNC	  0x2
#define SMB_FLAG_RELATED  0x4
#define SMB_FLAG_SIGNED	  0x8

/* Commands (section 2.2.1.2). */
enum smb_command {
	SMB_NEGOTIATE,
	SMB_SESSION_SETUP,
	SMB_LOGOFF,
	SMB_TREE_CONNECT,
	SMB_TREE_DISCONNECT,
	SMB_CREATE,
	SMB_CLOSE,
	SMB_FLUSH,
	SMB_READ,
	SMB_WRITE,
	SMB_LOCK,
	SMB_IOCTL,
	SMB_CANCEL,
	SMB_ECHO,
	SMB_QUERY_DIRECTORY,
	SMB_CHANGE_NOTIFY,
	SMB_QUERY_INFO,
	SMB_SET_INFO,
	SMB_OPLOCK_BREAK,
	SMB_COMMANDS,
	SMB_ENCRYPTED = 65535, /* of netobs: the command is not known */
};

#define SMB_STATUS_PENDING	   0x103u
#define SMB_STATUS_MORE_PROCESSING 0xc0000016u

enum smb_kind {
	SMB_KIND_PLAIN,
	SMB_KIND_SMB1,
	SMB_KIND_ENCRYPTED,
	SMB_KIND_COMPRESSED,
	SMB_KIND_SHORT,	   /* fewer bytes than the header has */
	SMB_KIND_UNKNOWN,  /* protocol id of none of them */
	SMB_KIND_BAD_SIZE, /* structure size other than 64 */
	SMB_KIND_BAD_NEXT, /* next message of the chain inside this header, not aligned to 8, or without a header */
};

struct smb_message {
	uint64_t message_id;
	uint64_t session_id;
	uint64_t async_id; /* 0 without SMB_FLAG_ASYNC */
	uint32_t tree_id;  /* 0 with SMB_FLAG_ASYNC */
	uint32_t status;   /* 0 in a request */
	uint32_t flags;
	uint32_t next; /* offset of the next message of the chain, 0 in the last one */
	uint16_t command;
};

/* SMB is little-endian; the getters of a slice read network byte order. */
static inline uint16_t
smb_u16(struct slice s, uint32_t offset)
{
	return __builtin_bswap16(slice_u16(s, offset));
}

static inline uint32_t
smb_u32(struct slice s, uint32_t offset)
{
	return __builtin_bswap32(slice_u32(s, offset));
}

static inline uint64_t
smb_u64(struct slice s, uint32_t offset)
{
	return __builtin_bswap64(slice_u64(s, offset));
}

/* Whether these are certainly the first bytes of a plain or an encrypted message; false if they are fewer than 6. */
bool smb_message_is_certain(struct slice bytes);

/* Parses the header at the start of `bytes`, which belongs to a transport message with `rest` bytes from there.
 * `*message` is all 0 unless the kind is plain, or encrypted: then it holds the session id only. */
enum smb_kind smb_message_parse(struct smb_message *message, struct slice bytes, uint32_t rest);

#endif
