/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the frames of pcapng and snoop files; pcap_reader.h and libpcap read pcap files.  Like pcap_reader.h the reader
 * has one large buffer, and frames point into it.  Every length in a file is checked before use; the buffer holds one
 * frame of at most FRAME_READER_BLOCK_MAX bytes.
 */
#ifndef NETOBS_CAPTURE_FILE_FRAME_READER_H
#define NETOBS_CAPTURE_FILE_FRAME_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/file/file_stream.h"
#include "dissect/frame.h"

/* Largest frame with its header, or block, and most captured bytes of a frame, as in libpcap. */
#define FRAME_READER_BLOCK_MAX (16u * 1024 * 1024)
#define FRAME_READER_CAPLEN_MAX 262144u

/* Most different link types in a file. */
#define FRAME_READER_LINK_TYPES 64

enum frame_reader_status {
	FRAME_READER_MORE,    /* nothing has ended: call frame_reader_read() again */
	FRAME_READER_END,     /* the file has ended, or the loop was stopped */
	FRAME_READER_DAMAGED, /* frame_reader_error() has the reason */
};

/* Frames that the capture lacks, by the statistics in a pcapng file. */
struct frame_reader_dropped {
	uint64_t system;    /* for want of buffer */
	uint64_t interface; /* by interfaces */
};

struct frame_reader;

/* Returns a reader if the first bytes of the stream are those of a format that is read here.  NULL if not; then `good`
 * is false, with a message logged, if out of memory.  `stream` is borrowed, and its bytes are not consumed for NULL. */
struct frame_reader *frame_reader_new(struct file_stream *stream, bool *good);
void frame_reader_free(struct frame_reader *reader);

/* Reads what precedes the first frame.  False, with frame_reader_error(), if this is not a capture. */
bool frame_reader_start(struct frame_reader *reader);

/* Returns at most `count` frames; the bytes of frames returned earlier become invalid, their interfaces stay valid as
 * long as the reader.  0: see frame_reader_status(). */
unsigned frame_reader_read(struct frame_reader *reader, struct frame *frames, unsigned count);
enum frame_reader_status frame_reader_status(const struct frame_reader *reader);

/* The dropped frames that the blocks so far report. */
struct frame_reader_dropped frame_reader_dropped(const struct frame_reader *reader);

/* The reason of the damage. */
const char *frame_reader_error(const struct frame_reader *reader);

/* Decompressed bytes before the next frame; after damage, the offset at which reading stopped. */
uint64_t frame_reader_position(const struct frame_reader *reader);

/* The different link types (DLT_ values) of the interfaces so far, supported or not.  Link types are only added, before
 * frame_reader_read() returns a frame of them. */
const int *frame_reader_link_types(const struct frame_reader *reader, size_t *count);

#endif
