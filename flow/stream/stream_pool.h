/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of queued segments, private to stream.c and stream_pool.c.  Index 0 means none. */
#ifndef NETOBS_FLOW_STREAM_STREAM_POOL_H
#define NETOBS_FLOW_STREAM_STREAM_POOL_H

#include "flow/stream/stream.h"

/* An out-of-order segment in the queue of its stream. */
struct queued_segment {
	uint32_t seq;
	uint32_t captured, wire; /* bytes captured, bytes on the wire */
	struct stream_origin origin;
	bool held; /* queued because of what it, or one before it, acknowledges: its time is that of its bytes */
	uint16_t next;		 /* next segment of the stream, or next free one */
	uint16_t block;		 /* first block of its bytes */
};

struct stream_pool {
	uint8_t *bytes; /* memory of the blocks */
	uint16_t *block_next;
	struct queued_segment *segments;
	uint16_t block_free_head, segment_free_head;   /* heads of the free lists */
	uint16_t block_high_water, segment_high_water; /* highest indices used so far */
	uint32_t blocks_used, segments_used;
	struct stream *oldest, *youngest; /* streams with queued segments */
	struct stream_counters counters;
};

static inline struct queued_segment *
stream_queue_at(struct stream_pool *pool, uint16_t index)
{
	return &pool->segments[index];
}

/* Whether a segment of `length` captured bytes may be queued: the first function checks the stream's limit, the second
 * the pool's. */
bool stream_queue_is_allowed(const struct stream *stream, uint32_t length);
bool stream_pool_has_room(const struct stream_pool *pool, uint32_t length);

/* Stores a segment, for which there must be room.  Returns its index, which the caller links into the stream's
 * queue. */
uint16_t stream_queue_store(struct stream_pool *pool, struct stream *stream, const struct stream_segment *segment,
			    bool held);

/* Unlinks the stream's first queued segment and frees it. */
void stream_queue_drop_head(struct stream_pool *pool, struct stream *stream);

#endif
