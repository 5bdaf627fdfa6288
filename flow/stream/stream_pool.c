/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/stream_pool.h"

#include <stdlib.h>
#include <sys/mman.h>

#define BYTES_SIZE ((size_t)(STREAM_POOL_BLOCKS + 1) * STREAM_BLOCK)

struct stream_pool *
stream_pool_new(void)
{
	struct stream_pool *pool = calloc(1, sizeof *pool);

	if (pool == NULL)
		return NULL;
	/* Pages are allocated when they are first touched. */
	pool->bytes =
	    mmap(NULL, BYTES_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pool->bytes == MAP_FAILED)
		pool->bytes = NULL;
	pool->block_next = calloc(STREAM_POOL_BLOCKS + 1, sizeof pool->block_next[0]);
	pool->pieces = calloc(STREAM_POOL_PIECES + 1, sizeof pool->pieces[0]);
	if (pool->bytes == NULL || pool->block_next == NULL || pool->pieces == NULL) {
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
	if (pool->bytes != NULL)
		munmap(pool->bytes, BYTES_SIZE);
	free(pool->block_next);
	free(pool->pieces);
	free(pool);
}

const struct stream_counters *
stream_pool_counters(const struct stream_pool *pool)
{
	return &pool->counters;
}

uint32_t
stream_pool_blocks(const struct stream_pool *pool)
{
	return pool->blocks;
}

uint32_t
stream_pool_pieces(const struct stream_pool *pool)
{
	return pool->pieces_used;
}

static uint32_t
blocks_for(uint32_t length)
{
	return length / STREAM_BLOCK + (length % STREAM_BLOCK != 0);
}

bool
waiting_is_allowed(const struct stream *stream, uint32_t length)
{
	return stream->pieces < STREAM_PIECES_MAX && stream->blocks + blocks_for(length) <= STREAM_BLOCKS_MAX;
}

bool
waiting_has_room(const struct stream_pool *pool, uint32_t length)
{
	return pool->pieces_used < STREAM_POOL_PIECES && pool->blocks + blocks_for(length) <= STREAM_POOL_BLOCKS;
}

/* --- streams with waiting pieces, by age --- */

static void
enlist(struct stream_pool *pool, struct stream *stream)
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
delist(struct stream_pool *pool, struct stream *stream)
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

/* --- pieces and blocks --- */

static uint16_t
take_block(struct stream_pool *pool)
{
	uint16_t index = pool->block_spare;

	if (index == 0)
		index = ++pool->block_top;
	else
		pool->block_spare = pool->block_next[index];
	pool->block_next[index] = 0;
	pool->blocks++;
	return index;
}

static uint16_t
take_piece(struct stream_pool *pool)
{
	uint16_t index = pool->piece_spare;

	if (index == 0)
		index = ++pool->piece_top;
	else
		pool->piece_spare = pool->pieces[index].next;
	pool->pieces_used++;
	return index;
}

uint16_t
waiting_keep(struct stream_pool *pool, struct stream *stream, uint32_t seq, struct view bytes, uint32_t wire)
{
	uint16_t index = take_piece(pool), *link;
	struct piece_waiting *piece = waiting_at(pool, index);

	*piece = (struct piece_waiting){.seq = seq, .have = bytes.len, .wire = wire};
	link = &piece->block;
	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		n = bytes.len - done < STREAM_BLOCK ? bytes.len - done : STREAM_BLOCK;
		*link = take_block(pool);
		view_copy(bytes, done, pool->bytes + (size_t)*link * STREAM_BLOCK, n);
		link = &pool->block_next[*link];
	}
	if (stream->pieces++ == 0)
		enlist(pool, stream);
	stream->blocks = (uint16_t)(stream->blocks + blocks_for(bytes.len));
	return index;
}

void
waiting_drop_first(struct stream_pool *pool, struct stream *stream)
{
	uint16_t index = stream->head;
	struct piece_waiting *piece = waiting_at(pool, index);

	while (piece->block != 0) {
		uint16_t block = piece->block;

		piece->block = pool->block_next[block];
		pool->block_next[block] = pool->block_spare;
		pool->block_spare = block;
		pool->blocks--;
		stream->blocks--;
	}
	stream->head = piece->next;
	piece->next = pool->piece_spare;
	pool->piece_spare = index;
	pool->pieces_used--;
	if (--stream->pieces == 0)
		delist(pool, stream);
}
