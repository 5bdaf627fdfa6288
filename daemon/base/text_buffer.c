/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static bool
text_is_printable(unsigned char byte)
{
	return byte >= ' ' && byte <= '~' && byte != '\\';
}

void
text_add_json(struct text_buffer *text, const char *string)
{
	text_add_format(text, "\"");
	for (; *string != '\0'; string++) {
		unsigned char byte = (unsigned char)*string;

		if (text_is_printable(byte) && byte != '"')
			text_add_format(text, "%c", byte);
		else
			text_add_format(text, "\\u%04x", byte);
	}
	text_add_format(text, "\"");
}

void
text_add_escaped(struct text_buffer *text, const char *string)
{
	while (*string != '\0') {
		size_t length = 0;

		while (text_is_printable((unsigned char)string[length]))
			length++;
		text_add_bytes(text, string, length);
		string += length;
		if (*string != '\0')
			text_add_format(text, "\\x%02x", (unsigned char)*string++);
	}
}
