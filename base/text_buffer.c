/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"

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

/* Appends the whole, or nothing. */
static void
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

void
text_add_escaped(struct text_buffer *text, const char *string)
{
	char piece[64 * FORMAT_PLAIN_BYTE_MAX + 8];

	while (*string != '\0') {
		size_t length = strnlen(string, 64);

		text_add_bytes(text, piece, (size_t)(put_plain_text(piece, string, length) - piece));
		string += length;
	}
}
