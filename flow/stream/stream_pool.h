/* SPDX-License-Identifier: BSD-2-Clause */
/* What streams keep their waiting segments in: stream.c and stream_pool.c only.  Index 0 is nobody. */
#ifndef NETOBS_FLOW_STREAM_STREAM_POOL_H
#define NETOBS_FLOW_STREAM_STREAM_POOL_H

#include "flow/stream/stream.h"

/* A segment that waits. */
struct piece_waiting {
	uint32_t seq;
	uint32_t have, wire; /* bytes captured, bytes on the wire */
	uint16_t next;	     /* piece of the stream, or free piece */
	uint16_t block;	     /* the first of those that hold its bytes */
};

struct stream_pool {
	uint8_t *bytes; /* blocks */
	uint16_t *block_next;
	struct piece_waiting *pieces;
	uint16_t block_spare, piece_spare; /* first free ones that were used before */
	uint16_t block_top, piece_top;	   /* highest ever used */
	uint32_t blocks, pieces_used;
	struct stream *oldest, *youngest; /* streams that have pieces */
	struct stream_counters counters;
};

static inline struct piece_waiting *
waiting_at(struct stream_pool *pool, uint16_t index)
{
	return &pool->pieces[index];
}

/* Whether a segment of `length` captured bytes can wait: by the stream's own bound, and by that of all. */
bool waiting_is_allowed(const struct stream *stream, uint32_t length);
bool waiting_has_room(const struct stream_pool *pool, uint32_t length);

/* Keeps a segment; there must be room.  Answers its piece, which is in no stream's list yet. */
uint16_t waiting_keep(struct stream_pool *pool, struct stream *stream, uint32_t seq, struct view bytes, uint32_t wire);

/* Takes the stream's first piece out of its list, and frees it. */
void waiting_drop_first(struct stream_pool *pool, struct stream *stream);

#endif
