/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES LOG_TEXT_MAX

/* Writes `text` so that it is one line of printable ASCII; `line` has space for four times its length. */
static void
log_escape_line(const char *text, char *line)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte >= ' ' && byte <= '~') {
			*line++ = *text;
			continue;
		}
		*line++ = '\\';
		*line++ = 'x';
		*line++ = hex[byte >> 4];
		*line++ = hex[byte & 15];
	}
	*line = '\0';
}

void
log_write(enum log_level level, const char *format, ...)
{
	char text[LINE_MAX_BYTES + 1], line[4 * LINE_MAX_BYTES + 1], priority[8] = "";
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof text)
		memcpy(text + sizeof text - 4, "...", 4);
	log_escape_line(text, line);
	if (getenv("JOURNAL_STREAM") != NULL)
		snprintf(priority, sizeof priority, "<%d>", (int)level);
	fprintf(stderr, "%snetobsd: %s\n", priority, line);
}
