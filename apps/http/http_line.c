/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_line.h"

void
http_line_reset(struct http_line_buffer *buffer)
{
	buffer->length = 0;
	buffer->tail_have = 0;
	buffer->pending = buffer->folded = false;
}

/* Keeps the last HTTP_TAIL_MAX bytes of the line. */
static void
http_line_append_tail(struct http_line_buffer *buffer, struct slice part)
{
	uint32_t n = part.len < HTTP_TAIL_MAX ? part.len : HTTP_TAIL_MAX;
	uint32_t keep = HTTP_TAIL_MAX - n < buffer->tail_have ? HTTP_TAIL_MAX - n : buffer->tail_have;

	memmove(buffer->tail, buffer->tail + buffer->tail_have - keep, keep);
	slice_copy(part, part.len - n, buffer->tail + keep, n);
	buffer->tail_have = (uint8_t)(keep + n);
}

static void
http_line_append(const struct http_line_input *input, struct slice part)
{
	struct http_line_buffer *buffer = input->buffer;

	if (buffer->length < input->head_max) {
		uint32_t room = input->head_max - buffer->length;

		slice_copy(part, 0, input->head + buffer->length, part.len < room ? part.len : room);
	}
	http_line_append_tail(buffer, part);
	/* A line of 4 GiB or more: its length only has to stay larger than the head. */
	buffer->length = part.len > UINT32_MAX - buffer->length ? UINT32_MAX : buffer->length + part.len;
}

/* The line of these bytes, without the CR at its end. */
static struct http_line
http_line_make(struct slice head, struct slice tail, uint32_t length)
{
	if (tail.len > 0 && slice_u8(tail, tail.len - 1) == '\r') {
		length--;
		tail = slice_sub(tail, 0, tail.len - 1);
	}
	return (struct http_line){slice_sub(head, 0, length), tail, length};
}

static struct http_line
http_line_of_buffer(const struct http_line_input *input)
{
	const struct http_line_buffer *buffer = input->buffer;
	uint32_t have = buffer->length < input->head_max ? buffer->length : input->head_max;

	return http_line_make((struct slice){input->head, have}, (struct slice){buffer->tail, buffer->tail_have},
			      buffer->length);
}

/* A line that lies in one piece of the stream is not copied; its limits are those of the buffer all the same, so that
 * the result does not depend on the pieces. */
static struct http_line
http_line_of_slice(const struct http_line_input *input, struct slice part)
{
	uint32_t tail = part.len < HTTP_TAIL_MAX ? part.len : HTTP_TAIL_MAX;

	return http_line_make(slice_sub(part, 0, input->head_max), slice_sub(part, part.len - tail, tail), part.len);
}

/* Whether the line, of which `part` is the last piece, is empty but for its line end. */
static bool
http_line_is_empty(const struct http_line_input *input, struct slice part)
{
	uint32_t length = input->buffer->length + part.len;

	return length == 0 || (length == 1 && (part.len > 0 ? slice_u8(part, 0) : input->head[0]) == '\r');
}

static void
http_line_fold(const struct http_line_input *input)
{
	struct http_line_buffer *buffer = input->buffer;

	/* The CR before the LF is white space to the parser of the field. */
	http_line_append(input, (struct slice){(const uint8_t *)" ", 1});
	buffer->pending = false;
	buffer->folded = true;
}

/* Whether the byte at an offset continues a line that ends before it. */
static bool
http_line_continues(struct slice bytes, uint32_t at)
{
	return slice_u8(bytes, at) == ' ' || slice_u8(bytes, at) == '\t';
}

static void
http_line_finish(const struct http_line_input *input, struct http_line *line, struct slice part, bool *folded)
{
	struct http_line_buffer *buffer = input->buffer;

	if (buffer->length == 0) {
		*line = http_line_of_slice(input, part);
	} else {
		http_line_append(input, part);
		*line = http_line_of_buffer(input);
	}
	*folded = buffer->folded;
	/* The bytes stay where they are until the next line overwrites them. */
	http_line_reset(buffer);
}

uint32_t
http_line_take(const struct http_line_input *input, struct slice bytes, struct http_line *line, bool *folded,
	       bool *whole)
{
	struct http_line_buffer *buffer = input->buffer;
	uint32_t done = 0;

	*whole = true;
	if (buffer->pending) {
		if (!http_line_continues(bytes, 0)) {
			http_line_finish(input, line, (struct slice){NULL, 0}, folded);
			return 0;
		}
		http_line_fold(input);
	}
	while (done < bytes.len) {
		struct slice rest = slice_sub(bytes, done, bytes.len);
		const uint8_t *end = memchr(rest.at, '\n', rest.len);
		struct slice part = slice_sub(rest, 0, end != NULL ? (uint32_t)(end - rest.at) : rest.len);

		done += part.len + (end != NULL);
		if (end == NULL) {
			http_line_append(input, part);
			break;
		}
		if (!input->foldable || http_line_is_empty(input, part) ||
		    (done < bytes.len && !http_line_continues(bytes, done))) {
			http_line_finish(input, line, part, folded);
			return done;
		}
		http_line_append(input, part);
		buffer->pending = true;
		if (done < bytes.len)
			http_line_fold(input);
	}
	*whole = false;
	return done;
}
