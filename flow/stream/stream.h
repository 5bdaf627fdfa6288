/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A byte stream in order: one direction of a TCP connection, put together from its segments.
 *
 * Bytes that come in order are handed to a reader straight from the frame.  What comes too early is kept, in blocks
 * of a pool that all streams share and within a bound of its own, until what is missing comes too.  It is given up,
 * and the reader told of a gap, as soon as the receiver has acknowledged it (it was there, but the capture has not
 * got it), or when there is no room left to wait.  Bytes that come again are compared with the last that were handed
 * on; of two versions the first counts.
 */
#ifndef NETOBS_FLOW_STREAM_STREAM_H
#define NETOBS_FLOW_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"

/* Bytes behind the present place that a retransmission is compared with. */
#define STREAM_HISTORY 8192u

/* Segments that one stream may have waiting; and the blocks of STREAM_BLOCK bytes that hold them. */
#define STREAM_BLOCK	  2048u
#define STREAM_PIECES_MAX 128u
#define STREAM_BLOCKS_MAX 128u

/* All streams together: 4 MiB. */
#define STREAM_POOL_BLOCKS 2048u
#define STREAM_POOL_PIECES 4096u

struct stream {
	uint32_t next;	 /* sequence number of the first byte that was not handed on yet */
	uint32_t known;	 /* bytes right before it that `history` holds */
	uint8_t *history; /* STREAM_HISTORY bytes, by sequence number; given with the stream */
	uint16_t head;	 /* the first piece that waits, in the order of the stream; 0 none */
	uint16_t pieces, blocks; /* how many it has */
	bool begun;
	struct stream *older, *younger; /* among those that have pieces: since when */
};

/* Who reads a stream.  What is called may not begin or end the stream. */
struct stream_reader {
	void (*bytes)(void *context, struct view bytes); /* the next ones, at least one */
	void (*gap)(void *context, uint32_t length);	 /* the next ones are missing */
	void (*odd)(void *context, enum anomaly a);
	void *context;
};

struct stream_counters {
	uint64_t bytes;	     /* handed on */
	uint64_t gaps;
	uint64_t missing;    /* bytes in gaps */
	uint64_t early;	     /* segments that had to wait */
	uint64_t repeated;   /* bytes that came again */
	uint64_t incomparable; /* of them those of which no copy was left */
	uint64_t differing;  /* segments that brought other bytes than before */
	uint64_t crowded;    /* gaps for want of room */
	uint64_t robbed;     /* streams whose waiting segments were thrown away for another's */
};

struct stream_pool;

/* NULL if memory cannot be had. */
struct stream_pool *stream_pool_new(void);
void stream_pool_free(struct stream_pool *pool);
const struct stream_counters *stream_pool_counters(const struct stream_pool *pool);

/* Blocks and pieces in use, of all streams. */
uint32_t stream_pool_blocks(const struct stream_pool *pool);
uint32_t stream_pool_pieces(const struct stream_pool *pool);

/* The stream begins at sequence number `seq`, and holds nothing. */
void stream_begin(struct stream_pool *pool, struct stream *stream, uint32_t seq);

/* Forgets all that waits; the stream has not begun. */
void stream_end(struct stream_pool *pool, struct stream *stream);

/* A segment.  `seq` is of its first byte; the capture holds the first `bytes.len` of its `wire` bytes.  `acked` is the
 * receiver's last acknowledgement number, where `has_acked`. */
struct stream_segment {
	uint32_t seq;
	struct view bytes;
	uint32_t wire;
	bool has_acked;
	uint32_t acked;
};

void stream_feed(struct stream_pool *pool, struct stream *stream, const struct stream_segment *segment,
		 const struct stream_reader *reader);

#endif
