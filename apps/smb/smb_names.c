/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb.h"

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

/* The character at `*offset`, which moves behind it. */
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
