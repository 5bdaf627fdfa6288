/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/mistake.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
mistake_report(struct source *source, size_t at, const char *format, ...)
{
	struct formula_error *error = source->error;
	va_list arguments;

	if (source->failed)
		return false;
	source->failed = true;
	error->line = error->column = 1;
	for (size_t i = 0; i < at && i < source->length; i++) {
		error->column++;
		if (source->text[i] == '\n') {
			error->line++;
			error->column = 1;
		}
	}
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	return false;
}

const char *
mistake_excerpt(const struct source *source, struct span span, char excerpt[EXCERPT_MAX])
{
	size_t length = span.length < EXCERPT_MAX ? span.length : EXCERPT_MAX - 4;

	for (size_t i = 0; i < length; i++) {
		char c = source->text[span.at + i];

		excerpt[i] = (unsigned char)c < ' ' ? ' ' : (unsigned char)c >= 127 ? '?' : c;
	}
	excerpt[length] = '\0';
	if (length < span.length)
		memcpy(excerpt + length, "...", 4);
	return excerpt;
}
