/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb.h"

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

#define SMB_SESSION_FLAG_BINDING 0x01 /* section 2.2.5 */

/* Offsets of a command's fields from the start of the header; 0 if it does not have the field. */
struct smb_layout {
	uint16_t structure_size; /* first field of the body; its lowest bit says that a variable part follows */
	uint8_t count, offset, file_id;
	uint8_t name; /* offset and length of a text, 2 bytes each */
};

static const struct smb_layout smb_request_layouts[SMB_COMMANDS] = {
    [SMB_NEGOTIATE] = {.structure_size = 36},
    [SMB_SESSION_SETUP] = {.structure_size = 25},
    [SMB_LOGOFF] = {.structure_size = 4},
    [SMB_TREE_CONNECT] = {.structure_size = 9, .name = 68},
    [SMB_TREE_DISCONNECT] = {.structure_size = 4},
    [SMB_CREATE] = {.structure_size = 57, .name = 108},
    [SMB_CLOSE] = {.structure_size = 24, .file_id = 72},
    [SMB_FLUSH] = {.structure_size = 24, .file_id = 72},
    [SMB_READ] = {.structure_size = 49, .count = 68, .offset = 72, .file_id = 80},
    [SMB_WRITE] = {.structure_size = 49, .count = 68, .offset = 72, .file_id = 80},
    [SMB_LOCK] = {.structure_size = 48, .file_id = 72},
    [SMB_IOCTL] = {.structure_size = 57, .file_id = 72},
    [SMB_CANCEL] = {.structure_size = 4},
    [SMB_ECHO] = {.structure_size = 4},
    [SMB_QUERY_DIRECTORY] = {.structure_size = 33, .file_id = 72},
    [SMB_CHANGE_NOTIFY] = {.structure_size = 32, .file_id = 72},
    [SMB_QUERY_INFO] = {.structure_size = 41, .file_id = 88},
    [SMB_SET_INFO] = {.structure_size = 33, .file_id = 80},
    [SMB_OPLOCK_BREAK] = {.structure_size = 24, .file_id = 72},
};

/* Responses without an entry have no fields of interest. */
static const struct smb_layout smb_response_layouts[SMB_COMMANDS] = {
    [SMB_NEGOTIATE] = {.structure_size = 65},
    [SMB_CREATE] = {.structure_size = 89, .file_id = 128},
    [SMB_READ] = {.structure_size = 17, .count = 68},
    [SMB_WRITE] = {.structure_size = 17, .count = 68},
};

/* Bytes of header and fixed part. */
static uint32_t
smb_layout_bytes(const struct smb_layout *layout)
{
	return SMB_HEADER_BYTES + (layout->structure_size & ~1u);
}

static enum smb_body_result
smb_body_name(struct smb_body *body, uint8_t at, struct slice bytes, uint32_t length)
{
	uint32_t offset = smb_u16(bytes, at), size = smb_u16(bytes, at + 2u);

	if (size == 0)
		return SMB_BODY_COMPLETE;
	if (offset < SMB_HEADER_BYTES || offset > length || size > length - offset || size % 2 != 0)
		return SMB_BODY_BAD;
	if (slice_has(bytes, offset, size < SMB_NAME_BYTES ? size : SMB_NAME_BYTES))
		body->name = slice_sub(bytes, offset, size);
	return SMB_BODY_COMPLETE;
}

static enum smb_body_result
smb_body_read(struct smb_body *body, const struct smb_layout *layout, struct slice bytes, uint32_t length)
{
	if (layout->count != 0)
		body->count = smb_u32(bytes, layout->count);
	if (layout->offset != 0)
		body->offset = smb_u64(bytes, layout->offset);
	if (layout->file_id != 0) {
		slice_copy(bytes, layout->file_id, body->file_id, SMB_FILE_ID_BYTES);
		body->has_file = true;
	}
	return layout->name != 0 ? smb_body_name(body, layout->name, bytes, length) : SMB_BODY_COMPLETE;
}

enum smb_body_result
smb_body_parse(struct smb_body *body, const struct smb_message *message, struct slice bytes, uint32_t length)
{
	bool response = (message->flags & SMB_FLAG_RESPONSE) != 0;
	const struct smb_layout *layout;
	uint16_t size;

	*body = (struct smb_body){0};
	if (message->command >= SMB_COMMANDS || length < SMB_HEADER_BYTES + 2)
		return SMB_BODY_BAD;
	if (bytes.len < SMB_HEADER_BYTES + 2)
		return SMB_BODY_CUT;
	layout = response ? &smb_response_layouts[message->command] : &smb_request_layouts[message->command];
	size = smb_u16(bytes, SMB_HEADER_BYTES);
	/* An error response has another structure, the acknowledgement of a lease break, too. */
	if (response && size != layout->structure_size)
		return SMB_BODY_ERROR;
	if (message->command == SMB_OPLOCK_BREAK && size != layout->structure_size)
		return SMB_BODY_ERROR;
	if (size != layout->structure_size || length < smb_layout_bytes(layout))
		return SMB_BODY_BAD;
	if (bytes.len < smb_layout_bytes(layout))
		return SMB_BODY_CUT;
	if (response && message->command == SMB_NEGOTIATE)
		body->dialect = smb_u16(bytes, 68);
	if (!response && message->command == SMB_SESSION_SETUP)
		body->binding = (slice_u8(bytes, 66) & SMB_SESSION_FLAG_BINDING) != 0;
	return smb_body_read(body, layout, bytes, length);
}

/* -------------------------------------------------------------------------------------------------------- smb names */

#define REPLACEMENT 0xfffdu /* U+FFFD */

static const char *const smb_command_names[SMB_COMMANDS] = {
    "negotiate", "session-setup", "logoff", "tree-connect", "tree-disconnect", "create", "close", "flush", "read",
    "write", "lock", "ioctl", "cancel", "echo", "query-directory", "change-notify", "query-info", "set-info",
    "oplock-break"};

static const struct smb_number_name {
	uint32_t number;
	const char *name;
} smb_statuses[] = {
#define STATUS(number, name) {number, "STATUS_" #name},
#include "apps/smb/smb_status.def"
#undef STATUS
}, smb_dialects[] = {{0x0202, "2.0.2"}, {0x0210, "2.1"},   {0x02ff, "2.x"},
		     {0x0300, "3.0"},	{0x0302, "3.0.2"}, {0x0311, "3.1.1"}};

const char *
smb_command_name(uint16_t command)
{
	if (command == SMB_ENCRYPTED)
		return "encrypted";
	return command < SMB_COMMANDS ? smb_command_names[command] : NULL;
}

const char *
smb_status_name(uint32_t status)
{
	for (size_t i = 0; i < sizeof smb_statuses / sizeof *smb_statuses; i++)
		if (smb_statuses[i].number == status)
			return smb_statuses[i].name;
	return NULL;
}

const char *
smb_dialect_name(uint16_t dialect)
{
	for (size_t i = 0; i < sizeof smb_dialects / sizeof *smb_dialects; i++)
		if (smb_dialects[i].number == dialect)
			return smb_dialects[i].name;
	return NULL;
}

/* The character at `*offset`, which moves past it. */
static uint32_t
smb_character(struct slice utf16, uint32_t *offset)
{
	uint32_t high = smb_u16(utf16, *offset), low;

	*offset += 2;
	if (high == 0 || (high >= 0xdc00 && high < 0xe000))
		return REPLACEMENT;
	if (high < 0xd800 || high >= 0xe000)
		return high;
	if (utf16.len < *offset + 2)
		return REPLACEMENT;
	low = smb_u16(utf16, *offset);
	if (low < 0xdc00 || low >= 0xe000)
		return REPLACEMENT;
	*offset += 2;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Bytes of UTF-8 (RFC 3629). */
static size_t
smb_put_utf8(uint8_t to[4], uint32_t character)
{
	size_t bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = bytes - 1; i > 0; i--) {
		to[i] = (uint8_t)(0x80 | (character & 0x3f));
		character >>= 6;
	}
	to[0] = (uint8_t)(first[bytes] | character);
	return bytes;
}

void
smb_text(char *to, size_t size, struct slice utf16)
{
	size_t used = 0;

	for (uint32_t offset = 0; offset + 2 <= utf16.len;) {
		uint8_t utf8[4];
		size_t bytes = smb_put_utf8(utf8, smb_character(utf16, &offset));

		if (used + bytes >= size)
			break;
		for (size_t i = 0; i < bytes; i++)
			to[used++] = (char)utf8[i];
	}
	to[used] = '\0';
}
