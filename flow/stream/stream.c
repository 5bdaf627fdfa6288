/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/stream.h"

#include "flow/stream/stream_pool.h"
#include "flow/tcp/tcp.h"

_Static_assert((STREAM_HISTORY & (STREAM_HISTORY - 1)) == 0, "sequence numbers wrap where the history does");
_Static_assert(STREAM_POOL_BLOCKS < UINT16_MAX && STREAM_POOL_SEGMENTS < UINT16_MAX, "indices have 16 bits");
/* The worst case fits: a segment without captured bytes uses a piece but no block. */
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
	s->begun = false;
	s->history_len = 0;
}

/* --- history --- */

/* Length of the part of a run before the ring wraps around. */
static uint32_t
stream_history_run(uint32_t seq, uint32_t left)
{
	uint32_t room = STREAM_HISTORY - seq % STREAM_HISTORY;

	return left < room ? left : room;
}

static void
stream_history_append(struct stream *s, struct slice bytes)
{
	uint32_t skip = bytes.len > STREAM_HISTORY ? bytes.len - STREAM_HISTORY : 0;

	for (uint32_t done = skip, n; done < bytes.len; done += n) {
		n = stream_history_run(s->next_seq + done, bytes.len - done);
		slice_copy(bytes, done, s->history + (s->next_seq + done) % STREAM_HISTORY, n);
	}
	s->history_len += bytes.len - skip;
	if (s->history_len > STREAM_HISTORY)
		s->history_len = STREAM_HISTORY;
}

/* Compares repeated bytes with the history; `old` of them were on the wire before. */
static void
stream_compare_retransmission(struct stream_ctx *w, uint32_t seq, struct slice bytes, uint32_t old)
{
	struct stream *s = w->s;
	uint32_t distance = s->next_seq - seq, skip = distance > s->history_len ? distance - s->history_len : 0;

	w->pool->counters.repeated += old;
	w->pool->counters.uncompared += skip < old ? skip : old;
	if (bytes.len > old)
		bytes.len = old;
	for (uint32_t done = skip, n; done < bytes.len; done += n) {
		n = stream_history_run(seq + done, bytes.len - done);
		if (!slice_equal(bytes, done, s->history + (seq + done) % STREAM_HISTORY, n))
			w->differs = true;
	}
}

/* --- delivery --- */

static void
stream_deliver(struct stream_ctx *w, struct slice bytes, uint32_t missing)
{
	struct stream *s = w->s;

	if (bytes.len > 0) {
		stream_history_append(s, bytes);
		s->next_seq += bytes.len;
		w->pool->counters.bytes += bytes.len;
		w->reader->on_bytes(w->reader->context, bytes);
	}
	if (missing == 0)
		return;
	s->history_len = 0;
	s->next_seq += missing;
	w->pool->counters.gaps++;
	w->pool->counters.missing += missing;
	w->reader->on_anomaly(w->reader->context, ANOMALY_STREAM_GAP);
	w->reader->on_gap(w->reader->context, missing);
}

/* Delivers a run that starts at or before the present position. */
static void
stream_accept_run(struct stream_ctx *w, uint32_t seq, struct slice bytes, uint32_t wire)
{
	uint32_t old = w->s->next_seq - seq;

	if (old > 0)
		stream_compare_retransmission(w, seq, bytes, old < wire ? old : wire);
	if (old >= wire)
		return;
	bytes = slice_sub(bytes, old, bytes.len);
	stream_deliver(w, bytes, wire - old - bytes.len);
}

static void
stream_deliver_queue_head(struct stream_ctx *w)
{
	const struct queued_segment *segment = stream_queue_at(w->pool, w->s->queue_head);
	uint32_t seq = segment->seq, left = segment->captured, cut = segment->wire - segment->captured;

	for (uint16_t block = segment->block; block != 0; block = w->pool->block_next[block]) {
		uint32_t n = left < STREAM_BLOCK ? left : STREAM_BLOCK;

		stream_accept_run(w, seq, (struct slice){w->pool->bytes + (size_t)block * STREAM_BLOCK, n}, n);
		seq += n;
		left -= n;
	}
	if (cut > 0)
		stream_accept_run(w, seq, (struct slice){NULL, 0}, cut);
	stream_queue_drop_head(w->pool, w->s);
}

/* Delivers the waiting segments that are now in order. */
static void
stream_deliver_queue(struct stream_ctx *w)
{
	while (w->s->queue_head != 0 &&
	       !tcp_seq_before(w->s->next_seq, stream_queue_at(w->pool, w->s->queue_head)->seq))
		stream_deliver_queue_head(w);
}

/* --- waiting segments --- */

static void
stream_queue_segment(struct stream_ctx *w, uint32_t seq, struct slice bytes, uint32_t wire)
{
	struct stream *s = w->s;
	uint16_t *link = &s->queue_head, index;

	while (*link != 0 && !tcp_seq_before(seq, stream_queue_at(w->pool, *link)->seq))
		link = &stream_queue_at(w->pool, *link)->next;
	index = stream_queue_store(w->pool, s, seq, bytes, wire);
	stream_queue_at(w->pool, index)->next = *link;
	*link = index;
	w->pool->counters.out_of_order++;
}

/* Whether everything before `seq` is acknowledged: missing bytes were received, and will not be sent again. */
static bool
stream_seq_is_acked(const struct stream_segment *segment, uint32_t seq)
{
	return segment->has_acked && !tcp_seq_before(segment->acked, seq);
}

/* End of the first gap, given that a segment at `seq` has arrived. */
static uint32_t
stream_gap_end(const struct stream_ctx *w, uint32_t seq)
{
	uint32_t head = w->s->queue_head != 0 ? stream_queue_at(w->pool, w->s->queue_head)->seq : seq;

	return tcp_seq_before(head, seq) ? head : seq;
}

static void
stream_skip_gap(struct stream_ctx *w, uint32_t seq, bool crowded)
{
	if (crowded) {
		w->pool->counters.limit_gaps++;
		w->reader->on_anomaly(w->reader->context, ANOMALY_STREAM_LIMIT);
	}
	stream_deliver(w, (struct slice){NULL, 0}, seq - w->s->next_seq);
	stream_deliver_queue(w);
}

/* Evicts the waiting segments of the stream that has waited longest; the present stream has none.  False if no stream
 * waits. */
static bool
stream_evict_oldest_queue(struct stream_ctx *w)
{
	struct stream *victim = w->pool->oldest;

	if (victim == NULL)
		return false;
	while (victim->queue_head != 0)
		stream_queue_drop_head(w->pool, victim);
	w->pool->counters.evicted_queues++;
	return true;
}

/* Handles a segment that is out of order.  True if it is kept; otherwise the gap before the next available bytes has
 * been given up. */
static bool
stream_process_out_of_order(struct stream_ctx *w, const struct stream_segment *segment)
{
	uint32_t end = stream_gap_end(w, segment->seq), length = segment->bytes.len;

	if (stream_seq_is_acked(segment, end)) {
		stream_skip_gap(w, end, false);
		return false;
	}
	while (stream_queue_is_allowed(w->s, length) && !stream_pool_has_room(w->pool, length) && w->s->queue_head == 0)
		if (!stream_evict_oldest_queue(w))
			break;
	if (stream_queue_is_allowed(w->s, length) && stream_pool_has_room(w->pool, length)) {
		stream_queue_segment(w, segment->seq, segment->bytes, segment->wire);
		return true;
	}
	stream_skip_gap(w, end, true);
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
	struct stream_ctx w = {.pool = pool, .s = s, .reader = reader};

	if (segment->wire == 0 || stream_is_keepalive(s, segment))
		return;
	if (segment->seq - s->next_seq > TCP_WINDOW_MAX && s->next_seq - segment->seq > TCP_WINDOW_MAX &&
	    !stream_seq_is_acked(segment, segment->seq))
		return;
	while (tcp_seq_before(s->next_seq, segment->seq))
		if (stream_process_out_of_order(&w, segment))
			return;
	stream_accept_run(&w, segment->seq, segment->bytes, segment->wire);
	stream_deliver_queue(&w);
	/* Missing bytes before a waiting segment that are acknowledged will not be sent again. */
	while (s->queue_head != 0 && stream_seq_is_acked(segment, stream_queue_at(pool, s->queue_head)->seq))
		stream_skip_gap(&w, stream_queue_at(pool, s->queue_head)->seq, false);
	if (w.differs) {
		pool->counters.differing++;
		reader->on_anomaly(reader->context, ANOMALY_RETRANSMISSION_DIFFERS);
	}
}
