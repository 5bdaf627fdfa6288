/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A byte stream in order: one direction of a TCP connection, assembled from its segments.
 *
 * Bytes that arrive in order are passed to a reader directly from the frame.  An out-of-order segment is queued, in
 * blocks of a pool shared by all streams and within a limit per stream, until the missing bytes arrive.  The missing
 * bytes are given up, and reported to the reader as a gap, as soon as the receiver has acknowledged them (they were
 * sent but not captured), or when the queue is full.  Repeated bytes are compared with the most recent ones delivered;
 * if they differ the first version counts.
 *
 * One direction may be captured late, by another port or interface.  A segment that acknowledges bytes which its peer
 * was not captured sending yet is held, with all after it, until they come: a reader has the bytes of both directions
 * in an order in which they can have been sent.  The hold ends without them after STREAM_HOLD_NS, or when the queue is
 * full, or when the peer continues after them (they were not captured); there is no other one until the peer sends
 * more.
 */
#ifndef NETOBS_FLOW_STREAM_STREAM_H
#define NETOBS_FLOW_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"

/* Most segments that one stream may queue, and most blocks of STREAM_BLOCK bytes that hold them. */
#define STREAM_BLOCK	  2048u
#define STREAM_QUEUE_MAX  128u
#define STREAM_BLOCKS_MAX 128u

/* Limit for all streams together: 4 MiB. */
#define STREAM_POOL_BLOCKS   2048u
#define STREAM_POOL_SEGMENTS 4096u

/* Longest time that a segment is held, ns of packet time. */
#define STREAM_HOLD_NS 1000000000u

/* What is known of a segment besides its bytes. */
struct stream_origin {
	uint64_t time; /* packet time, ns */
	uint32_t ack;  /* its acknowledgement number, valid if `has_ack` */
	bool has_ack;
	bool late; /* its receiver has acknowledged all of it before it was captured */
};

struct stream {
	uint32_t next_seq;			 /* sequence number of the next byte to deliver */
	uint32_t history_len;			 /* bytes before `next_seq` that `history` holds */
	uint32_t history_size;			 /* delivered bytes that are kept for comparison with retransmissions: a
						  * power of two, or 0; set by the caller */
	uint8_t *history;			 /* ring of that size, indexed by sequence number; set by the caller */
	uint16_t queue_head;			 /* first queued segment, in stream order; 0 none */
	uint16_t queued_segments, queued_blocks; /* number of queued segments, and of their blocks */
	bool begun;				 /* stream_begin() was called, and stream_end() was not */
	bool peer_known;			 /* peer_end is valid */
	bool unheld;				 /* a hold has ended in vain: no other one until peer_end grows */
	bool acked_known;			 /* acked is valid */
	uint32_t peer_end;			 /* sequence number after what was captured of the other direction */
	uint32_t acked;				 /* latest acknowledgement number of the receiver */
	struct stream *older, *younger;		 /* list of the streams with queued segments, by how long they have
						  * waited */
};

/* Callbacks of a stream.  They must not begin or end the stream. */
struct stream_reader {
	void (*on_bytes)(void *context, struct slice bytes); /* the next bytes, at least one */
	void (*on_gap)(void *context, uint32_t length);	     /* the next `length` bytes are missing */
	void (*on_anomaly)(void *context, enum anomaly a);
	/* The next bytes are of this segment; `now`: it was not held, so that they are complete only now.  May be
	 * NULL. */
	void (*on_segment)(void *context, const struct stream_origin *origin, bool now);
	void *context;
};

struct stream_counters {
	uint64_t bytes;	     /* bytes delivered */
	uint64_t gaps;
	uint64_t missing;	 /* bytes in gaps */
	uint64_t out_of_order;	 /* segments queued because they were out of order */
	uint64_t held;		 /* segments held because of what they acknowledge */
	uint64_t unheld;	 /* holds that ended without it */
	uint64_t repeated;	 /* bytes received again */
	uint64_t uncompared;	 /* of `repeated`, bytes that could not be compared because the history is too short */
	uint64_t differing;	 /* segments that repeat a range with different bytes */
	uint64_t limit_gaps;	 /* gaps because the queue or the pool was full */
	uint64_t undelivered;	 /* segments that were queued, held or not, when their connection was no longer read */
	uint64_t evicted_queues; /* streams whose queued segments were evicted */
	uint64_t unkept;	 /* first segments that were not kept, or not whole (flow/stream/first_bytes_pool.h) */
};

struct stream_pool;

/* NULL if out of memory. */
struct stream_pool *stream_pool_new(void);
void stream_pool_free(struct stream_pool *pool);
size_t stream_pool_memory_size(void);
const struct stream_counters *stream_pool_counters(const struct stream_pool *pool);

/* Counts first segments that were not kept, or not whole. */
void stream_count_unkept(struct stream_pool *pool, uint64_t segments);

/* Blocks in use, and queued segments, of all streams. */
uint32_t stream_pool_blocks(const struct stream_pool *pool);
uint32_t stream_pool_segments(const struct stream_pool *pool);

/* Starts the stream at sequence number `seq` with an empty queue. */
void stream_begin(struct stream_pool *pool, struct stream *stream, uint32_t seq);

/* Drops all queued segments; the stream is then not begun. */
void stream_end(struct stream_pool *pool, struct stream *stream);

/* Counts the queued segments: what comes next drops them. */
void stream_count_undelivered(struct stream_pool *pool, const struct stream *stream);

/* A segment.  `seq` is the sequence number of its first byte; `bytes` is the captured part of its `wire` bytes.
 * `acked` is the last acknowledgement number of the receiver, valid if `has_acked`. */
struct stream_segment {
	uint32_t seq;
	struct slice bytes;
	uint32_t wire;
	bool has_acked;
	uint32_t acked;
	struct stream_origin origin;
};

void stream_feed(struct stream_pool *pool, struct stream *stream, const struct stream_segment *segment,
		 const struct stream_reader *reader);

/* The other direction was captured up to `end`: delivers what was held for that. */
void stream_release(struct stream_pool *pool, struct stream *stream, uint32_t end, const struct stream_reader *reader);

/* Whether segments are held, the first one since `*since`. */
bool stream_is_holding(const struct stream_pool *pool, const struct stream *stream, uint64_t *since);

/* Ends the hold: what is held is delivered. */
void stream_end_hold(struct stream_pool *pool, struct stream *stream, const struct stream_reader *reader);

/* The receiver has acknowledged all bytes before `acked`: gives up those that are missing before queued segments. */
void stream_acknowledge(struct stream_pool *pool, struct stream *stream, uint32_t acked,
			const struct stream_reader *reader);

/* The next `length` bytes are missing, and no segment after them is queued. */
void stream_skip(struct stream_pool *pool, struct stream *stream, uint32_t length, const struct stream_reader *reader);

#endif
