/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file/frame_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "capture/file/frame_reader_internal.h"

/* Bytes per read: small enough to be still in the second-level cache when they are parsed. */
#define READ_BYTES (128u * 1024)

static const struct frame_format *
frame_reader_detect_format(struct file_stream *stream)
{
	static const struct frame_format *const formats[] = {&pcapng_format, &snoop_format};
	uint8_t first[sizeof formats[0]->magic];
	size_t length = file_stream_peek(stream, first, sizeof first);

	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (length >= formats[i]->magic_length &&
		    memcmp(first, formats[i]->magic, formats[i]->magic_length) == 0)
			return formats[i];
	return NULL;
}

struct frame_reader *
frame_reader_new(struct file_stream *stream, bool *good)
{
	const struct frame_format *format = frame_reader_detect_format(stream);
	struct frame_reader *reader;

	*good = true;
	if (format == NULL)
		return NULL;
	reader = calloc(1, format->reader_size);
	if (reader != NULL)
		reader->bytes = malloc(2 * (size_t)READ_BYTES);
	if (reader == NULL || reader->bytes == NULL) {
		free(reader);
		log_error("cannot read %s: out of memory", file_stream_name(stream));
		*good = false;
		return NULL;
	}
	reader->size = 2 * (size_t)READ_BYTES;
	reader->format = format;
	reader->stream = stream;
	return reader;
}

void
frame_reader_free(struct frame_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->format->free != NULL)
		reader->format->free(reader);
	free(reader->bytes);
	free(reader);
}

bool
frame_reader_set_error(struct frame_reader *reader, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->error, sizeof reader->error, format, arguments);
	va_end(arguments);
	reader->status = FRAME_READER_DAMAGED;
	return false;
}

/* Moves the unparsed bytes to the front of a buffer that holds `wanted` bytes. */
static bool
frame_reader_make_room(struct frame_reader *reader, size_t wanted)
{
	size_t left = reader->end - reader->parsed, size = wanted + READ_BYTES;
	uint8_t *bytes;

	memmove(reader->bytes, reader->bytes + reader->parsed, left);
	reader->offset += reader->parsed;
	reader->parsed = 0;
	reader->end = left;
	if (wanted <= reader->size)
		return true;
	bytes = realloc(reader->bytes, size);
	if (bytes == NULL)
		return frame_reader_set_error(reader, "out of memory");
	reader->bytes = bytes;
	reader->size = size;
	return true;
}

/* The stream has ended before `wanted` bytes. */
static bool
frame_reader_end(struct frame_reader *reader, size_t wanted)
{
	size_t left = reader->end - reader->parsed;

	reader->parsed = reader->end;
	if (left == 0) {
		reader->status = FRAME_READER_END;
		return false;
	}
	return frame_reader_set_error(reader, "the file ends after %zu of %zu bytes", left, wanted);
}

bool
frame_reader_fill(struct frame_reader *reader, size_t wanted)
{
	if (!frame_reader_make_room(reader, wanted))
		return false;
	while (reader->end < wanted) {
		size_t space = reader->size - reader->end;
		ssize_t got = file_stream_read(reader->stream, reader->bytes + reader->end,
					       space < READ_BYTES ? space : READ_BYTES);

		if (got < 0)
			return frame_reader_set_error(reader, "%s", file_stream_error(reader->stream));
		if (got == 0)
			return frame_reader_end(reader, wanted);
		reader->end += (size_t)got;
	}
	return true;
}

bool
frame_reader_add_link_type(struct frame_reader *reader, int link_type)
{
	for (size_t i = 0; i < reader->link_type_count; i++)
		if (reader->link_types[i] == link_type)
			return true;
	if (reader->link_type_count == FRAME_READER_LINK_TYPES)
		return frame_reader_set_error(reader, "there are more than %d link types", FRAME_READER_LINK_TYPES);
	reader->link_types[reader->link_type_count++] = link_type;
	return true;
}

bool
frame_reader_start(struct frame_reader *reader)
{
	if (reader->format->start(reader))
		return true;
	if (reader->status == FRAME_READER_END)
		frame_reader_set_error(reader, "the file ends in its header");
	return false;
}

unsigned
frame_reader_read(struct frame_reader *reader, struct frame *frames, unsigned count)
{
	unsigned taken = 0, skipped = 0;

	if (reader->status != FRAME_READER_MORE)
		return 0;
	while (taken < count && skipped < FRAME_READER_SKIPS) {
		switch (reader->format->step(reader, &frames[taken])) {
		case FRAME_STEP_FRAME:
			taken++;
			break;
		case FRAME_STEP_SKIPPED:
			skipped++;
			break;
		case FRAME_STEP_PARTIAL:
			if (taken > 0 || !frame_reader_fill(reader, reader->wanted))
				return taken;
			break;
		case FRAME_STEP_DAMAGED:
			return taken;
		}
	}
	return taken;
}

enum frame_reader_status
frame_reader_status(const struct frame_reader *reader)
{
	return reader->status;
}

const char *
frame_reader_error(const struct frame_reader *reader)
{
	return reader->error;
}

struct frame_reader_dropped
frame_reader_dropped(const struct frame_reader *reader)
{
	return reader->dropped;
}

uint64_t
frame_reader_position(const struct frame_reader *reader)
{
	return reader->offset + reader->parsed;
}

const int *
frame_reader_link_types(const struct frame_reader *reader, size_t *count)
{
	*count = reader->link_type_count;
	return reader->link_types;
}
