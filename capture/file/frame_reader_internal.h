/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the readers of one format each (frame_reader.h). */
#ifndef NETOBS_CAPTURE_FILE_FRAME_READER_INTERNAL_H
#define NETOBS_CAPTURE_FILE_FRAME_READER_INTERNAL_H

#include <string.h>

#include "capture/file/frame_reader.h"

#define NS_PER_SECOND 1000000000u

/* Blocks without a frame that are skipped before frame_reader_read() returns, so that signals are handled. */
#define FRAME_READER_SKIPS 4096

/* The result of parsing the frame at the start of the unparsed bytes. */
enum frame_step {
	FRAME_STEP_FRAME,   /* it has a frame */
	FRAME_STEP_SKIPPED, /* it has no frame */
	FRAME_STEP_PARTIAL, /* `wanted` bytes are needed */
	FRAME_STEP_DAMAGED, /* the error is set */
};

struct frame_format {
	uint8_t magic[8]; /* first bytes of such a file */
	size_t magic_length;
	size_t reader_size; /* of the format's struct, which begins with a struct frame_reader */
	bool (*start)(struct frame_reader *reader);
	enum frame_step (*step)(struct frame_reader *reader, struct frame *frame);
	void (*free)(struct frame_reader *reader); /* what the format has allocated; NULL: nothing */
};

struct frame_reader {
	const struct frame_format *format;
	struct file_stream *stream;
	uint8_t *bytes;	    /* the buffer */
	size_t size;	    /* of the buffer */
	size_t parsed, end; /* range not parsed yet */
	uint64_t offset;    /* of the buffer in the stream */
	size_t wanted;	    /* bytes of the next frame, so far as they are known */
	enum frame_reader_status status;
	int link_types[FRAME_READER_LINK_TYPES];
	size_t link_type_count;
	struct frame_reader_dropped dropped;
	char error[160];
};

extern const struct frame_format pcapng_format, snoop_format;

/* Reads until `wanted` bytes are not parsed.  False at the end of the stream, which is damage unless all bytes are
 * parsed. */
bool frame_reader_fill(struct frame_reader *reader, size_t wanted);

/* Sets the error.  Returns false. */
bool frame_reader_set_error(struct frame_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a link type if it is new.  False, with the error set, if there are too many. */
bool frame_reader_add_link_type(struct frame_reader *reader, int link_type);

/* The bytes at the start of the unparsed range. */
static inline const uint8_t *
frame_reader_bytes(const struct frame_reader *reader)
{
	return reader->bytes + reader->parsed;
}

/* Whether `wanted` bytes are not parsed yet; if not, the step is FRAME_STEP_PARTIAL. */
static inline bool
frame_reader_has(struct frame_reader *reader, size_t wanted)
{
	reader->wanted = wanted;
	return reader->end - reader->parsed >= wanted;
}

#endif
