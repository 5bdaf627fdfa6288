/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <assert.h>
#include <string.h>

static inline bool
utf8_is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Length of the valid UTF-8 sequence (RFC 3629) at `s`, which has `left` bytes; 0 if invalid.  C1 control characters
 * count as invalid, because terminals execute them. */
static size_t
utf8_length(const uint8_t *s, size_t left)
{
	if (left >= 2 && s[0] >= 0xc2 && s[0] <= 0xdf && utf8_is_continuation(s[1]))
		return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : 2;
	if (left >= 3 && (s[0] & 0xf0) == 0xe0 && utf8_is_continuation(s[1]) && utf8_is_continuation(s[2])) {
		bool overlong = s[0] == 0xe0 && s[1] < 0xa0;
		bool surrogate = s[0] == 0xed && s[1] >= 0xa0;

		return overlong || surrogate ? 0 : 3;
	}
	if (left >= 4 && s[0] >= 0xf0 && s[0] <= 0xf4 && utf8_is_continuation(s[1]) && utf8_is_continuation(s[2]) &&
	    utf8_is_continuation(s[3])) {
		bool overlong = s[0] == 0xf0 && s[1] < 0x90;
		bool too_high = s[0] == 0xf4 && s[1] >= 0x90;

		return overlong || too_high ? 0 : 4;
	}
	return 0;
}

/* Characters that a terminal or an editor does not show, and that may change the order of others: format characters
 * (Unicode category Cf), line and paragraph separators, and those of Default_Ignorable_Code_Point. */
static const struct {
	uint32_t first, last;
} hidden_characters[] = {
    {0xad, 0xad},	{0x34f, 0x34f},	    {0x600, 0x605},	{0x61c, 0x61c},	    {0x6dd, 0x6dd},
    {0x70f, 0x70f},	{0x890, 0x891},	    {0x8e2, 0x8e2},	{0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},	{0x200b, 0x200f},   {0x2028, 0x202e},	{0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},	{0xfeff, 0xfeff},   {0xffa0, 0xffa0},	{0xfff0, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool
utf8_is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof hidden_characters / sizeof hidden_characters[0]; i++)
		if (code <= hidden_characters[i].last)
			return code >= hidden_characters[i].first;
	return false;
}

/* Decodes a valid sequence of `n` bytes, 2 to 4. */
static uint32_t
utf8_decode(const uint8_t *s, size_t n)
{
	uint32_t code = s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

/* One UTF-16 unit. */
static char *
put_json_unit(char *at, uint32_t unit)
{
	const uint8_t bytes[2] = {(uint8_t)(unit >> 8), (uint8_t)unit};

	at = PUT(at, "\\u");
	return put_hex_bytes(at, bytes, 2);
}

/* Writes a character that is valid UTF-8 of `n` bytes. */
static char *
put_json_utf8(char *at, const uint8_t *s, size_t n)
{
	uint32_t code = utf8_decode(s, n);

	if (!utf8_is_hidden(code)) {
		memcpy(at, s, n);
		return at + n;
	}
	if (code < 0x10000)
		return put_json_unit(at, code);
	at = put_json_unit(at, 0xd800 + ((code - 0x10000) >> 10));
	return put_json_unit(at, 0xdc00 + (code & 0x3ff));
}

static char *
put_json_byte(char *at, uint8_t byte)
{
	switch (byte) {
	case '"':
		return PUT(at, "\\\"");
	case '\\':
		return PUT(at, "\\\\");
	case '\n':
		return PUT(at, "\\n");
	case '\t':
		return PUT(at, "\\t");
	case '\r':
		return PUT(at, "\\r");
	default:
		at = PUT(at, "\\u00");
		return put_hex_bytes(at, &byte, 1);
	}
}

/* Writes the character of UTF-8, or the invalid byte, at the start of a text of `size` bytes, escaped except if it is
 * shown.  `*length` is its number of bytes. */
static char *
put_json_character(char *at, const uint8_t *s, size_t size, size_t *length)
{
	size_t n = *s >= 0x80 ? utf8_length(s, size) : 0;

	*length = n > 0 ? n : 1;
	return n > 0 ? put_json_utf8(at, s, n) : put_json_byte(at, *s);
}

char *
put_json_text(char *at, const char *text, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t i = format_copy_printable(at, s, size, '"', '\\');

	at += i;
	while (i < size && s[i] != '\0') {
		size_t n;

		if (s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\') {
			*at++ = (char)s[i++];
			continue;
		}
		at = put_json_character(at, s + i, size - i, &n);
		i += n;
	}
	return at;
}

/* ---------------------------------------------------------------------------------------------------------- members */

/* Bytes of a string that are converted at once. */
#define PIECE_MAX 64

/* The length of the next piece of a text.  No character of UTF-8 is divided. */
static size_t
json_piece(const char *text, size_t size)
{
	size_t length = strnlen(text, size < PIECE_MAX ? size : PIECE_MAX), first = length;

	/* A character has at most three bytes after its first. */
	while (length == PIECE_MAX && length < size && first + 4 > length && utf8_is_continuation((uint8_t)text[first]))
		first--;
	return first + 4 > length ? first : length;
}

/* Writes a comma if one is needed, the key, and the first byte of a value. */
static void
json_begin_value(struct json *json, const char *name, char first)
{
	char start[JSON_NAME_MAX + 8] = ",", *at = start + 1, *from = json->separate ? start : at;

	if (name != NULL) {
		assert(strlen(name) <= JSON_NAME_MAX);
		at = put_json_key(start, ',', name);
	}
	if (first != '\0')
		*at++ = first;
	json->write(json->to, from, (size_t)(at - from));
	json->separate = true;
}

static void
json_file_write(void *to, const char *bytes, size_t length)
{
	(void)fwrite(bytes, 1, length, to);
}

struct json
json_to_file(FILE *file)
{
	return (struct json){.write = json_file_write, .to = file};
}

void
json_begin_object(struct json *json, const char *name)
{
	json_begin_value(json, name, '{');
	json->separate = false;
}

void
json_begin_array(struct json *json, const char *name)
{
	json_begin_value(json, name, '[');
	json->separate = false;
}

void
json_end_object(struct json *json)
{
	json->write(json->to, "}", 1);
	json->separate = true;
}

void
json_end_array(struct json *json)
{
	json->write(json->to, "]", 1);
	json->separate = true;
}

void
json_end_line(struct json *json)
{
	json->write(json->to, "}\n", 2);
	json->separate = false;
}

void
json_break_line(struct json *json)
{
	if (json->separate)
		json->write(json->to, ",", 1);
	json->write(json->to, "\n", 1);
	json->separate = false;
}

/* Writes a part of a text that is escaped. */
static void
json_write_escaped(const struct json *json, const char *text, size_t length)
{
	static const char marks[] = "<>&";

	for (size_t at = 0; json->in_html && at < length;) {
		size_t plain = at;
		char escape[8];

		while (plain < length && memchr(marks, text[plain], sizeof marks - 1) == NULL)
			plain++;
		json->write(json->to, text + at, plain - at);
		if (plain < length)
			json->write(json->to, escape, (size_t)(put_json_unit(escape, (uint8_t)text[plain]) - escape));
		at = plain + 1;
	}
	if (!json->in_html)
		json->write(json->to, text, length);
}

void
json_add_text(struct json *json, const char *name, const char *text, size_t size)
{
	char piece[PIECE_MAX * JSON_BYTE_MAX + 8];
	size_t length;

	json_begin_value(json, name, '"');
	for (; (length = json_piece(text, size)) > 0; text += length, size -= length)
		json_write_escaped(json, piece, (size_t)(put_json_text(piece, text, length) - piece));
	json->write(json->to, "\"", 1);
}

void
json_add_escaped(struct json *json, const char *name, const char *text)
{
	json_begin_value(json, name, '"');
	json_write_escaped(json, text, strlen(text));
	json->write(json->to, "\"", 1);
}

void
json_add_string(struct json *json, const char *name, const char *string)
{
	json_add_text(json, name, string, strlen(string));
}

void
json_add_literal(struct json *json, const char *name, const char *literal)
{
	json_begin_value(json, name, '\0');
	json->write(json->to, literal, strlen(literal));
}

void
json_add_unsigned(struct json *json, const char *name, uint64_t number)
{
	char digits[FORMAT_NUMBER_MAX];

	json_begin_value(json, name, '\0');
	json->write(json->to, digits, (size_t)(put_u64(digits, number) - digits));
}

void
json_add_signed(struct json *json, const char *name, int64_t number)
{
	char digits[FORMAT_NUMBER_MAX];

	json_begin_value(json, name, '\0');
	json->write(json->to, digits, (size_t)(put_i64(digits, number) - digits));
}

void
json_add_bool(struct json *json, const char *name, bool value)
{
	json_add_literal(json, name, value ? "true" : "false");
}

void
json_add_null(struct json *json, const char *name)
{
	json_add_literal(json, name, "null");
}

static void
text_write_json(void *to, const char *bytes, size_t length)
{
	text_add_bytes(to, bytes, length);
}

struct json
text_json(struct text_buffer *text)
{
	return (struct json){.write = text_write_json, .to = text};
}

/* Writes a text of another program, of which all printable characters and those of `blanks` remain. */
static char *
put_foreign(char *at, const uint8_t *s, size_t size, const char *blanks, bool json)
{
	for (size_t i = 0, n; i < size; i += n) {
		n = format_copy_printable(at, s + i, size - i, 0x7f, 0x7f);
		at += n;
		if (n > 0)
			continue;
		n = 1;
		if ((s[i] >= ' ' && s[i] <= '~') || (s[i] != '\0' && strchr(blanks, s[i]) != NULL)) {
			*at++ = (char)s[i];
		} else if (!json) {
			at = PUT(at, "\\x");
			at = put_hex_bytes(at, s + i, 1);
		} else {
			at = put_json_character(at, s + i, size - i, &n);
		}
	}
	return at;
}

char *
put_foreign_text(char *at, const char *text, size_t size)
{
	return put_foreign(at, (const uint8_t *)text, size, "", false);
}

char *
put_foreign_lines(char *at, const char *lines, size_t size)
{
	while (size > 0) {
		const char *end = memchr(lines, '\n', size);
		size_t length = end != NULL ? (size_t)(end - lines) + 1 : size;

		at = put_foreign(at, (const uint8_t *)lines, length, "\n\t", *lines == '{');
		lines += length;
		size -= length;
	}
	return at;
}
