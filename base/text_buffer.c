/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"

void
text_add_format(struct text_buffer *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->bytes + text->used, text_space_left(text), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= text_space_left(text)) {
		text->truncated = true;
		return;
	}
	text->used += (size_t)length;
}

void
text_add_bytes(struct text_buffer *text, const char *bytes, size_t length)
{
	if (length >= text_space_left(text)) {
		text->truncated = true;
		return;
	}
	memcpy(text->bytes + text->used, bytes, length);
	text->used += length;
	text->bytes[text->used] = '\0';
}

void
text_add_number(struct text_buffer *text, uint64_t number)
{
	char digits[20], *first = digits + sizeof digits;

	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	text_add_bytes(text, first, (size_t)(digits + sizeof digits - first));
}

/* Bytes of a string that are converted at once. */
#define PIECE_MAX 64

/* The length of the next piece of a string.  No character of UTF-8 is divided. */
static size_t
text_piece(const char *string)
{
	size_t length = strnlen(string, PIECE_MAX), first = length;

	/* A character has at most three bytes after its first. */
	while (length == PIECE_MAX && first + 4 > length && ((unsigned char)string[first] & 0xc0) == 0x80)
		first--;
	return first + 4 > length ? first : length;
}

/* Appends a string that `put` converts, piece by piece. */
static void
text_add_converted(struct text_buffer *text, const char *string,
		   char *(*put)(char *at, const char *text, size_t size))
{
	char piece[PIECE_MAX * JSON_BYTE_MAX + 8];

	while (*string != '\0') {
		size_t length = text_piece(string);

		text_add_bytes(text, piece, (size_t)(put(piece, string, length) - piece));
		string += length;
	}
}

void
text_add_json(struct text_buffer *text, const char *string)
{
	text_add_bytes(text, "\"", 1);
	text_add_converted(text, string, put_json_text);
	text_add_bytes(text, "\"", 1);
}

void
text_add_escaped(struct text_buffer *text, const char *string)
{
	text_add_converted(text, string, put_plain_text);
}
