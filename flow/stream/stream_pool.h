/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of waiting segments, private to stream.c and stream_pool.c.  Index 0 means none. */
#ifndef NETOBS_FLOW_STREAM_STREAM_POOL_H
#define NETOBS_FLOW_STREAM_STREAM_POOL_H

#include "flow/stream/stream.h"

/* A waiting segment. */
struct piece_waiting {
	uint32_t seq;
	uint32_t have, wire; /* bytes captured, bytes on the wire */
	uint16_t next;	     /* next piece of the stream, or next free piece */
	uint16_t block;	     /* first block of its bytes */
};

struct stream_pool {
	uint8_t *bytes; /* memory of the blocks */
	uint16_t *block_next;
	struct piece_waiting *pieces;
	uint16_t block_spare, piece_spare; /* heads of the free lists */
	uint16_t block_top, piece_top;	   /* highest indices used so far */
	uint32_t blocks, pieces_used;
	struct stream *oldest, *youngest; /* streams with waiting pieces */
	struct stream_counters counters;
};

static inline struct piece_waiting *
waiting_at(struct stream_pool *pool, uint16_t index)
{
	return &pool->pieces[index];
}

/* Whether a segment of `length` captured bytes may wait: the first function checks the stream's limit, the second the
 * pool's. */
bool waiting_is_allowed(const struct stream *stream, uint32_t length);
bool waiting_has_room(const struct stream_pool *pool, uint32_t length);

/* Keeps a segment; there must be room.  Returns its piece, which the caller links into the stream's list. */
uint16_t waiting_keep(struct stream_pool *pool, struct stream *stream, uint32_t seq, struct view bytes, uint32_t wire);

/* Unlinks the stream's first piece and frees it. */
void waiting_drop_first(struct stream_pool *pool, struct stream *stream);

#endif
