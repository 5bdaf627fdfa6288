/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>

void
text_add(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->bytes + text->used, text_room(text), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= text_room(text)) {
		text->cut = true;
		return;
	}
	text->used += (size_t)length;
}

static bool
is_plain(unsigned char byte)
{
	return byte >= ' ' && byte <= '~' && byte != '\\';
}

void
text_add_json(struct text *text, const char *string)
{
	text_add(text, "\"");
	for (; *string != '\0'; string++) {
		unsigned char byte = (unsigned char)*string;

		if (is_plain(byte) && byte != '"')
			text_add(text, "%c", byte);
		else
			text_add(text, "\\u%04x", byte);
	}
	text_add(text, "\"");
}

void
text_add_plain(struct text *text, const char *string)
{
	for (; *string != '\0'; string++) {
		unsigned char byte = (unsigned char)*string;

		if (is_plain(byte))
			text_add(text, "%c", byte);
		else
			text_add(text, "\\x%02x", byte);
	}
}
