/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in a buffer of fixed size. */
#ifndef NETOBS_BASE_TEXT_BUFFER_H
#define NETOBS_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct text_buffer {
	char *bytes; /* buffer of `size` bytes, owned by the caller */
	size_t size;
	size_t used;
	bool truncated; /* some text did not fit */
};

/* Appends the whole text, or nothing if it does not fit. */
void text_add_format(struct text_buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends JSON: each part of a member as a whole, or not. */
struct json text_json(struct text_buffer *text);

/* Appends for a terminal, like put_plain_text(). */
void text_add_escaped(struct text_buffer *text, const char *string);

static inline size_t
text_space_left(const struct text_buffer *text)
{
	return text->size - text->used;
}

#endif
