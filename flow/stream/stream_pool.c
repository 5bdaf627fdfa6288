/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/stream_pool.h"

#include <stdlib.h>

#include "flow/memory.h"

/* Entries of the arrays of blocks and segments: index 0 is none. */
#define BLOCK_INDEX_SPACE   ((size_t)STREAM_POOL_BLOCKS + 1)
#define SEGMENT_INDEX_SPACE ((size_t)STREAM_POOL_SEGMENTS + 1)

#define BYTES_SIZE (BLOCK_INDEX_SPACE * STREAM_BLOCK)

struct stream_pool *
stream_pool_new(void)
{
	struct stream_pool *pool = calloc(1, sizeof *pool);

	if (pool == NULL)
		return NULL;
	pool->bytes = memory_reserve(BYTES_SIZE);
	pool->block_next = calloc(BLOCK_INDEX_SPACE, sizeof pool->block_next[0]);
	pool->segments = calloc(SEGMENT_INDEX_SPACE, sizeof pool->segments[0]);
	if (pool->bytes == NULL || pool->block_next == NULL || pool->segments == NULL) {
		stream_pool_free(pool);
		return NULL;
	}
	return pool;
}

void
stream_pool_free(struct stream_pool *pool)
{
	if (pool == NULL)
		return;
	memory_release(pool->bytes, BYTES_SIZE);
	free(pool->block_next);
	free(pool->segments);
	free(pool);
}

size_t
stream_pool_memory_size(void)
{
	return sizeof(struct stream_pool) + BYTES_SIZE + BLOCK_INDEX_SPACE * sizeof(uint16_t) +
	       SEGMENT_INDEX_SPACE * sizeof(struct queued_segment);
}

const struct stream_counters *
stream_pool_counters(const struct stream_pool *pool)
{
	return &pool->counters;
}

uint32_t
stream_pool_blocks(const struct stream_pool *pool)
{
	return pool->blocks_used;
}

uint32_t
stream_pool_segments(const struct stream_pool *pool)
{
	return pool->segments_used;
}

static uint32_t
stream_blocks_for(uint32_t length)
{
	return length / STREAM_BLOCK + (length % STREAM_BLOCK != 0);
}

bool
stream_queue_is_allowed(const struct stream *stream, uint32_t length)
{
	return stream->queued_segments < STREAM_QUEUE_MAX &&
	       stream->queued_blocks + stream_blocks_for(length) <= STREAM_BLOCKS_MAX;
}

bool
stream_pool_has_room(const struct stream_pool *pool, uint32_t length)
{
	return pool->segments_used < STREAM_POOL_SEGMENTS &&
	       pool->blocks_used + stream_blocks_for(length) <= STREAM_POOL_BLOCKS;
}

/* --- streams with queued segments, by age --- */

static void
stream_pool_link(struct stream_pool *pool, struct stream *stream)
{
	stream->older = pool->youngest;
	stream->younger = NULL;
	if (pool->youngest != NULL)
		pool->youngest->younger = stream;
	else
		pool->oldest = stream;
	pool->youngest = stream;
}

static void
stream_pool_unlink(struct stream_pool *pool, struct stream *stream)
{
	if (stream->older != NULL)
		stream->older->younger = stream->younger;
	else
		pool->oldest = stream->younger;
	if (stream->younger != NULL)
		stream->younger->older = stream->older;
	else
		pool->youngest = stream->older;
	stream->older = stream->younger = NULL;
}

/* --- segments and blocks --- */

static uint16_t
stream_pool_alloc_block(struct stream_pool *pool)
{
	uint16_t index = pool->block_free_head;

	if (index == 0)
		index = ++pool->block_high_water;
	else
		pool->block_free_head = pool->block_next[index];
	pool->block_next[index] = 0;
	pool->blocks_used++;
	return index;
}

static uint16_t
stream_pool_alloc_segment(struct stream_pool *pool)
{
	uint16_t index = pool->segment_free_head;

	if (index == 0)
		index = ++pool->segment_high_water;
	else
		pool->segment_free_head = pool->segments[index].next;
	pool->segments_used++;
	return index;
}

uint16_t
stream_queue_store(struct stream_pool *pool, struct stream *stream, const struct stream_segment *from, bool held)
{
	uint16_t index = stream_pool_alloc_segment(pool), *link;
	struct queued_segment *segment = stream_queue_at(pool, index);
	struct slice bytes = from->bytes;

	*segment = (struct queued_segment){
	    .seq = from->seq, .captured = bytes.len, .wire = from->wire, .origin = from->origin, .held = held};
	link = &segment->block;
	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		n = bytes.len - done < STREAM_BLOCK ? bytes.len - done : STREAM_BLOCK;
		*link = stream_pool_alloc_block(pool);
		slice_copy(bytes, done, pool->bytes + (size_t)*link * STREAM_BLOCK, n);
		link = &pool->block_next[*link];
	}
	if (stream->queued_segments++ == 0)
		stream_pool_link(pool, stream);
	stream->queued_blocks = (uint16_t)(stream->queued_blocks + stream_blocks_for(bytes.len));
	return index;
}

void
stream_queue_drop_head(struct stream_pool *pool, struct stream *stream)
{
	uint16_t index = stream->queue_head;
	struct queued_segment *segment = stream_queue_at(pool, index);

	while (segment->block != 0) {
		uint16_t block = segment->block;

		segment->block = pool->block_next[block];
		pool->block_next[block] = pool->block_free_head;
		pool->block_free_head = block;
		pool->blocks_used--;
		stream->queued_blocks--;
	}
	stream->queue_head = segment->next;
	segment->next = pool->segment_free_head;
	pool->segment_free_head = index;
	pool->segments_used--;
	if (--stream->queued_segments == 0)
		stream_pool_unlink(pool, stream);
}
