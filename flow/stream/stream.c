/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/stream.h"

#include <stdlib.h>

#include "engine/engine.h"
#include "flow/memory.h"
#include "flow/tcp/tcp.h"

/* --- memory of queued segments: index 0 means none --- */

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

static struct queued_segment *
stream_queue_at(struct stream_pool *pool, uint16_t index)
{
	return &pool->segments[index];
}

/* Entries of the arrays of blocks and segments: index 0 is unused. */
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

void
stream_count_unkept(struct stream_pool *pool, uint64_t segments)
{
	pool->counters.unkept += segments;
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

/* Whether a segment of `length` captured bytes may be queued: the first function checks the stream's limit, the second
 * the pool's. */
static bool
stream_queue_is_allowed(const struct stream *stream, uint32_t length)
{
	return stream->queued_segments < STREAM_QUEUE_MAX &&
	       stream->queued_blocks + stream_blocks_for(length) <= STREAM_BLOCKS_MAX;
}

static bool
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

/* Stores a segment, for which there must be room.  Returns its index, which the caller links into the stream's
 * queue. */
static uint16_t
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

/* Unlinks the stream's first queued segment and frees it. */
static void
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

_Static_assert(STREAM_POOL_BLOCKS < UINT16_MAX && STREAM_POOL_SEGMENTS < UINT16_MAX, "indices have 16 bits");
/* The worst case fits: a segment without captured bytes needs no block. */
_Static_assert(STREAM_BLOCKS_MAX * STREAM_BLOCK >= 2 * 65536u, "one super-packet leaves room for others");

/* Arguments of the functions below, for one segment. */
struct stream_ctx {
	struct stream_pool *pool;
	struct stream *s;
	const struct stream_reader *reader;
	bool differs; /* the segment repeats a byte range with different bytes */
};

void
stream_begin(struct stream_pool *pool, struct stream *s, uint32_t seq)
{
	stream_end(pool, s);
	s->next_seq = seq;
	s->begun = true;
}

void
stream_end(struct stream_pool *pool, struct stream *s)
{
	while (s->queue_head != 0)
		stream_queue_drop_head(pool, s);
	s->begun = s->unheld = false;
	s->history_len = 0;
}

void
stream_count_undelivered(struct stream_pool *pool, const struct stream *s)
{
	pool->counters.undelivered += s->queued_segments;
}

/* --- history --- */

/* Length of the part of a run before the ring wraps around.  Sequence numbers wrap where the ring does: its size is a
 * power of two. */
static uint32_t
stream_history_run(const struct stream *s, uint32_t seq, uint32_t left)
{
	uint32_t room = s->history_size - (seq & (s->history_size - 1));

	return left < room ? left : room;
}

static void
stream_history_append(struct stream *s, struct slice bytes)
{
	uint32_t skip = bytes.len > s->history_size ? bytes.len - s->history_size : 0;

	for (uint32_t done = skip, n; done < bytes.len; done += n) {
		n = stream_history_run(s, s->next_seq + done, bytes.len - done);
		slice_copy(bytes, done, s->history + ((s->next_seq + done) & (s->history_size - 1)), n);
	}
	s->history_len += bytes.len - skip;
	if (s->history_len > s->history_size)
		s->history_len = s->history_size;
}

/* Compares repeated bytes with the history; the first `old` bytes of the segment repeat earlier ones. */
static void
stream_compare_retransmission(struct stream_ctx *ctx, uint32_t seq, struct slice bytes, uint32_t old)
{
	struct stream *s = ctx->s;
	uint32_t distance = s->next_seq - seq, skip = distance > s->history_len ? distance - s->history_len : 0;

	ctx->pool->counters.repeated += old;
	ctx->pool->counters.uncompared += skip < old ? skip : old;
	if (bytes.len > old)
		bytes.len = old;
	for (uint32_t done = skip, n; done < bytes.len; done += n) {
		n = stream_history_run(s, seq + done, bytes.len - done);
		if (!slice_equal(bytes, done, s->history + ((seq + done) & (s->history_size - 1)), n))
			ctx->differs = true;
	}
}

/* --- delivery --- */

static void
stream_deliver(struct stream_ctx *ctx, struct slice bytes, uint32_t missing)
{
	struct stream *s = ctx->s;

	if (bytes.len > 0) {
		stream_history_append(s, bytes);
		s->next_seq += bytes.len;
		ctx->pool->counters.bytes += bytes.len;
		ctx->reader->on_bytes(ctx->reader->context, bytes);
	}
	if (missing == 0)
		return;
	s->history_len = 0;
	s->next_seq += missing;
	ctx->pool->counters.gaps++;
	ctx->pool->counters.missing += missing;
	ctx->reader->on_anomaly(ctx->reader->context, ANOMALY_STREAM_GAP);
	ctx->reader->on_gap(ctx->reader->context, missing);
}

/* Delivers a run that starts at or before the present position. */
static void
stream_accept_run(struct stream_ctx *ctx, uint32_t seq, struct slice bytes, uint32_t wire)
{
	uint32_t old = ctx->s->next_seq - seq;

	if (old > 0)
		stream_compare_retransmission(ctx, seq, bytes, old < wire ? old : wire);
	if (old >= wire)
		return;
	bytes = slice_sub(bytes, old, bytes.len);
	stream_deliver(ctx, bytes, wire - old - bytes.len);
}

/* The bytes that follow are of this segment; they are complete `now`, or were at its time. */
static void
stream_set_origin(const struct stream_ctx *ctx, const struct stream_origin *origin, bool now)
{
	if (ctx->reader->on_segment != NULL)
		ctx->reader->on_segment(ctx->reader->context, origin, now);
}

static void
stream_deliver_queue_head(struct stream_ctx *ctx)
{
	const struct queued_segment *segment = stream_queue_at(ctx->pool, ctx->s->queue_head);
	uint32_t seq = segment->seq, left = segment->captured, cut = segment->wire - segment->captured;

	stream_set_origin(ctx, &segment->origin, !segment->held);
	for (uint16_t block = segment->block; block != 0; block = ctx->pool->block_next[block]) {
		uint32_t n = left < STREAM_BLOCK ? left : STREAM_BLOCK;

		stream_accept_run(ctx, seq, (struct slice){ctx->pool->bytes + (size_t)block * STREAM_BLOCK, n}, n);
		seq += n;
		left -= n;
	}
	if (cut > 0)
		stream_accept_run(ctx, seq, (struct slice){NULL, 0}, cut);
	stream_queue_drop_head(ctx->pool, ctx->s);
}

/* Whether a segment acknowledges bytes of the other direction that were not captured yet. */
static bool
stream_is_ahead(const struct stream *s, const struct stream_origin *origin)
{
	return origin->has_ack && s->peer_known && !s->unheld && tcp_seq_before(s->peer_end, origin->ack) &&
	       origin->ack - s->peer_end <= TCP_WINDOW_MAX;
}

/* Whether the first queued segment is in order. */
static bool
stream_head_is_next(const struct stream_ctx *ctx)
{
	return ctx->s->queue_head != 0 &&
	       !tcp_seq_before(ctx->s->next_seq, stream_queue_at(ctx->pool, ctx->s->queue_head)->seq);
}

/* Delivers the queued segments that are now in order, up to one that is to be held. */
static void
stream_deliver_queue(struct stream_ctx *ctx)
{
	while (stream_head_is_next(ctx) &&
	       !stream_is_ahead(ctx->s, &stream_queue_at(ctx->pool, ctx->s->queue_head)->origin))
		stream_deliver_queue_head(ctx);
}

/* --- queued segments --- */

static void
stream_queue_segment(struct stream_ctx *ctx, const struct stream_segment *segment, bool held)
{
	struct stream *s = ctx->s;
	uint16_t *link = &s->queue_head, index;

	while (*link != 0 && !tcp_seq_before(segment->seq, stream_queue_at(ctx->pool, *link)->seq))
		link = &stream_queue_at(ctx->pool, *link)->next;
	index = stream_queue_store(ctx->pool, s, segment, held);
	stream_queue_at(ctx->pool, index)->next = *link;
	*link = index;
	if (held)
		ctx->pool->counters.held++;
	else
		ctx->pool->counters.out_of_order++;
}

/* Whether everything before `seq` is acknowledged: missing bytes were received, and will not be sent again. */
static bool
stream_seq_is_acked(const struct stream_segment *segment, uint32_t seq)
{
	return segment->has_acked && !tcp_seq_before(segment->acked, seq);
}

/* End of the first gap, given that a segment at `seq` has arrived. */
static uint32_t
stream_gap_end(const struct stream_ctx *ctx, uint32_t seq)
{
	uint32_t head = ctx->s->queue_head != 0 ? stream_queue_at(ctx->pool, ctx->s->queue_head)->seq : seq;

	return tcp_seq_before(head, seq) ? head : seq;
}

static void
stream_skip_gap(struct stream_ctx *ctx, uint32_t seq, bool limit_reached)
{
	if (limit_reached) {
		ctx->pool->counters.limit_gaps++;
		ctx->reader->on_anomaly(ctx->reader->context, ANOMALY_STREAM_LIMIT);
	}
	engine_stream_gap(seq - ctx->s->next_seq, limit_reached);
	stream_deliver(ctx, (struct slice){NULL, 0}, seq - ctx->s->next_seq);
	stream_deliver_queue(ctx);
}

/* Missing bytes before a queued segment that are acknowledged will not be sent again. */
static void
stream_skip_acked_gaps(struct stream_ctx *ctx, uint32_t acked)
{
	while (ctx->s->queue_head != 0 && !stream_head_is_next(ctx) &&
	       !tcp_seq_before(acked, stream_queue_at(ctx->pool, ctx->s->queue_head)->seq))
		stream_skip_gap(ctx, stream_queue_at(ctx->pool, ctx->s->queue_head)->seq, false);
}

/* Evicts the queued segments of the stream that has waited longest; the present stream has no such segments.  False if
 * no stream has any. */
static bool
stream_evict_oldest_queue(struct stream_ctx *ctx)
{
	struct stream *victim = ctx->pool->oldest;

	if (victim == NULL)
		return false;
	while (victim->queue_head != 0)
		stream_queue_drop_head(ctx->pool, victim);
	ctx->pool->counters.evicted_queues++;
	return true;
}

/* Queues a segment.  False if there is no room for it. */
static bool
stream_try_queue(struct stream_ctx *ctx, const struct stream_segment *segment, bool held)
{
	uint32_t length = segment->bytes.len;

	while (stream_queue_is_allowed(ctx->s, length) && !stream_pool_has_room(ctx->pool, length) &&
	       ctx->s->queue_head == 0)
		if (!stream_evict_oldest_queue(ctx))
			break;
	if (!stream_queue_is_allowed(ctx->s, length) || !stream_pool_has_room(ctx->pool, length))
		return false;
	stream_queue_segment(ctx, segment, held);
	return true;
}

/* Delivers what is held, without what it waits for. */
static void
stream_unhold(struct stream_ctx *ctx)
{
	if (!stream_head_is_next(ctx))
		return;
	ctx->s->unheld = true;
	ctx->pool->counters.unheld++;
	stream_deliver_queue(ctx);
}

/* Holds a segment with new bytes if it, or one before it, acknowledges what was not captured yet. */
static bool
stream_hold(struct stream_ctx *ctx, const struct stream_segment *segment)
{
	bool next = !tcp_seq_before(ctx->s->next_seq, segment->seq);

	if (!tcp_seq_before(ctx->s->next_seq, segment->seq + segment->wire) ||
	    !(stream_head_is_next(ctx) || (next && stream_is_ahead(ctx->s, &segment->origin))))
		return false;
	if (stream_try_queue(ctx, segment, true))
		return true;
	stream_unhold(ctx);
	return false;
}

/* Handles a segment that is out of order.  True if it is queued; otherwise the gap before the next available bytes has
 * been given up. */
static bool
stream_process_out_of_order(struct stream_ctx *ctx, const struct stream_segment *segment)
{
	uint32_t end = stream_gap_end(ctx, segment->seq);

	if (stream_seq_is_acked(segment, end)) {
		stream_skip_gap(ctx, end, false);
		return false;
	}
	if (stream_try_queue(ctx, segment, false))
		return true;
	stream_skip_gap(ctx, end, true);
	return false;
}

/* A keepalive repeats the last byte, whose value is arbitrary (RFC 9293 section 3.8.4). */
static bool
stream_is_keepalive(const struct stream *s, const struct stream_segment *segment)
{
	return segment->wire <= 1 && segment->seq == s->next_seq - 1;
}

void
stream_feed(struct stream_pool *pool, struct stream *s, const struct stream_segment *segment,
	    const struct stream_reader *reader)
{
	struct stream_ctx ctx = {.pool = pool, .s = s, .reader = reader};

	if (segment->wire == 0 || stream_is_keepalive(s, segment))
		return;
	if (segment->seq - s->next_seq > TCP_WINDOW_MAX && s->next_seq - segment->seq > TCP_WINDOW_MAX &&
	    !stream_seq_is_acked(segment, segment->seq))
		return;
	if (stream_hold(&ctx, segment))
		return;
	while (tcp_seq_before(s->next_seq, segment->seq))
		if (stream_process_out_of_order(&ctx, segment))
			return;
	stream_set_origin(&ctx, &segment->origin, true);
	stream_accept_run(&ctx, segment->seq, segment->bytes, segment->wire);
	stream_deliver_queue(&ctx);
	if (segment->has_acked)
		stream_skip_acked_gaps(&ctx, segment->acked);
	if (ctx.differs) {
		pool->counters.differing++;
		reader->on_anomaly(reader->context, ANOMALY_RETRANSMISSION_DIFFERS);
	}
}

void
stream_release(struct stream_pool *pool, struct stream *s, uint32_t end, const struct stream_reader *reader)
{
	struct stream_ctx ctx = {.pool = pool, .s = s, .reader = reader};

	if (s->peer_known && !tcp_seq_before(s->peer_end, end))
		return;
	s->peer_end = end;
	s->peer_known = true;
	s->unheld = false;
	stream_deliver_queue(&ctx);
}

bool
stream_is_holding(const struct stream_pool *pool, const struct stream *s, uint64_t *since)
{
	const struct queued_segment *head;

	if (s->queue_head == 0)
		return false;
	head = &pool->segments[s->queue_head];
	*since = head->origin.time;
	return !tcp_seq_before(s->next_seq, head->seq);
}

void
stream_end_hold(struct stream_pool *pool, struct stream *s, const struct stream_reader *reader)
{
	struct stream_ctx ctx = {.pool = pool, .s = s, .reader = reader};

	stream_unhold(&ctx);
}

void
stream_acknowledge(struct stream_pool *pool, struct stream *s, uint32_t acked, const struct stream_reader *reader)
{
	struct stream_ctx ctx = {.pool = pool, .s = s, .reader = reader};

	stream_skip_acked_gaps(&ctx, acked);
}

void
stream_skip(struct stream_pool *pool, struct stream *s, uint32_t length, const struct stream_reader *reader)
{
	struct stream_ctx ctx = {.pool = pool, .s = s, .reader = reader};

	stream_deliver(&ctx, (struct slice){NULL, 0}, length);
}
