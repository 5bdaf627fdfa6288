/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a byte stream that arrives in arbitrary pieces. */
#ifndef NETOBS_APPS_HTTP_HTTP_LINE_H
#define NETOBS_APPS_HTTP_HTTP_LINE_H

#include "apps/http/http_message.h"

/* A line that is not complete: its first bytes are in memory that the caller provides.  Zero at the beginning. */
struct http_line_buffer {
	uint32_t length; /* bytes of the line so far */
	bool pending;	 /* the line has ended; the next byte decides whether it is folded */
	bool folded;	 /* the line has continued behind a line end (section 5.2) */
	uint8_t tail_have;
	uint8_t tail[HTTP_TAIL_MAX];
};

struct http_line_input {
	struct http_line_buffer *buffer;
	uint8_t *head; /* memory of `head_max` bytes that belongs to the buffer */
	uint32_t head_max;
	bool foldable; /* a line that begins with white space continues the one before it */
};

/*
 * Takes bytes up to the end of a line, whose `*folded` says whether it was folded.  Returns the number of bytes taken;
 * `*whole` says whether the line is complete.  The line is valid until the next call, which begins another one.
 */
uint32_t http_line_take(const struct http_line_input *input, struct slice bytes, struct http_line *line, bool *folded,
			bool *whole);

/* Drops an incomplete line. */
void http_line_reset(struct http_line_buffer *buffer);

#endif
