/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows to a bound and no further. */
#ifndef NETOBS_DAEMON_BASE_TEXT_BUFFER_H
#define NETOBS_DAEMON_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *bytes; /* `size` bytes, the caller's */
	size_t size;
	size_t used;
	bool cut; /* something did not fit */
};

/* Appends; all of it or nothing. */
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a JSON string with its quotes; bytes that are not printable ASCII are escaped as U+0000 to U+00FF. */
void text_add_json(struct text *text, const char *string);

/* Appends for a terminal: bytes that are not printable ASCII come out as \xNN. */
void text_add_plain(struct text *text, const char *string);

static inline size_t
text_room(const struct text *text)
{
	return text->size - text->used;
}

#endif
