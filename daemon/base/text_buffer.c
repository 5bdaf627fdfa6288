/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>

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
	for (; *string != '\0'; string++) {
		unsigned char byte = (unsigned char)*string;

		if (text_is_printable(byte))
			text_add_format(text, "%c", byte);
		else
			text_add_format(text, "\\x%02x", byte);
	}
}
