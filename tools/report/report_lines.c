/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the definition of a formula. */
#define DEFINITION_SIZE 2048u

/* Ends a text that is cut. */
#define ELLIPSIS "\xe2\x80\xa6"

void
report_line_begin(struct report_line *line, const char *text, size_t length)
{
	line->at = text;
	line->end = text + length;
}

bool
report_line_is(const struct report_line *line, const char *probe)
{
	static const char start[] = "{\"probe\":\"";
	const char *at = line->at;
	size_t length = strlen(probe);

	if ((size_t)(line->end - at) < sizeof(start) - 1 + length || memcmp(at, start, sizeof(start) - 1) != 0)
		return false;
	return memcmp(at + sizeof(start) - 1, probe, length) == 0;
}

bool
report_line_contains(const struct report_line *line, const char *text)
{
	return memmem(line->at, (size_t)(line->end - line->at), text, strlen(text)) != NULL;
}

bool
report_line_find(struct report_line *line, const char *name)
{
	size_t length = strlen(name);
	const char *quote = line->at;

	while ((quote = memchr(quote, '"', (size_t)(line->end - quote))) != NULL) {
		const char *at = quote + 1;

		if ((size_t)(line->end - at) > length + 2 && memcmp(at, name, length) == 0 && at[length] == '"' &&
		    at[length + 1] == ':') {
			line->at = at + length + 2;
			return true;
		}
		quote = at;
	}
	return false;
}

int64_t
report_line_number(struct report_line *line, const char *name, int64_t otherwise)
{
	bool negative = false;
	int64_t value = 0;

	if (!report_line_find(line, name))
		return otherwise;
	if (line->at < line->end && *line->at == '-') {
		negative = true;
		line->at++;
	}
	if (line->at == line->end || *line->at < '0' || *line->at > '9')
		return otherwise;
	for (; line->at < line->end && *line->at >= '0' && *line->at <= '9'; line->at++) {
		int digit = *line->at - '0';

		value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
	}
	return negative ? -value : value;
}

/* Bytes of the character or escape at the beginning of a JSON string; cut at `end`. */
static size_t
report_character_length(const char *at, const char *end)
{
	size_t length = 1;

	if (*at == '\\')
		length = end - at > 1 && at[1] == 'u' ? 6 : 2;
	while (at + length < end && ((unsigned char)at[length] & 0xc0) == 0x80)
		length++;
	return (size_t)(end - at) < length ? (size_t)(end - at) : length;
}

void
report_line_text(struct report_line *line, const char *name, char *text, size_t size)
{
	const char *at, *start;
	size_t used = 0;

	text[0] = '\0';
	if (!report_line_find(line, name) || line->at == line->end || *line->at != '"')
		return;
	start = at = line->at + 1;
	while (at < line->end && *at != '"')
		at += *at == '\\' ? 2 : 1;
	if (at >= line->end)
		return;
	line->at = at;
	if ((size_t)(at - start) < size) {
		memcpy(text, start, (size_t)(at - start));
		text[at - start] = '\0';
		return;
	}
	while (used + report_character_length(start + used, at) + sizeof(ELLIPSIS) <= size)
		used += report_character_length(start + used, at);
	memcpy(text, start, used);
	if (used + sizeof(ELLIPSIS) <= size)
		memcpy(text + used, ELLIPSIS, sizeof(ELLIPSIS));
	else
		text[used] = '\0';
}

char *
report_line_formula(const char *name, size_t number, const char *where, const uint64_t *cids, size_t count,
		    const char *more)
{
	char *text = malloc(DEFINITION_SIZE);
	size_t used;

	if (text == NULL)
		return NULL;
	used = (size_t)snprintf(text, DEFINITION_SIZE, "--formula=%s-%zu = %s in {", name, number, where);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, DEFINITION_SIZE - used, "%s%llu", i > 0 ? ", " : "",
					 (unsigned long long)cids[i]);
	snprintf(text + used, DEFINITION_SIZE - used, "}%s", more);
	return text;
}
