/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/stream.h"

#include "flow/stream/stream_pool.h"
#include "flow/tcp/tcp.h"

_Static_assert((STREAM_HISTORY & (STREAM_HISTORY - 1)) == 0, "sequence numbers wrap where the history does");
_Static_assert(STREAM_POOL_BLOCKS < UINT16_MAX && STREAM_POOL_PIECES < UINT16_MAX, "indices have 16 bits");
/* The worst case fits: a segment without captured bytes uses a piece but no block. */
_Static_assert(STREAM_BLOCKS_MAX * STREAM_BLOCK >= 2 * 65536u, "one super-packet leaves room for others");

/* The largest window (RFC 7323 section 2.3): no sender is farther ahead. */
#define WINDOW_MAX (1u << 30)

/* Arguments of the functions below, for one segment. */
struct work {
	struct stream_pool *pool;
	struct stream *s;
	const struct stream_reader *reader;
	bool differs; /* the segment repeats a byte range with different bytes */
};

void
stream_begin(struct stream_pool *pool, struct stream *s, uint32_t seq)
{
	stream_end(pool, s);
	s->next = seq;
	s->begun = true;
}

void
stream_end(struct stream_pool *pool, struct stream *s)
{
	while (s->head != 0)
		waiting_drop_first(pool, s);
	s->begun = false;
	s->known = 0;
}

/* --- history --- */

/* Length of the part of a run before the ring wraps around. */
static uint32_t
before_turn(uint32_t seq, uint32_t left)
{
	uint32_t room = STREAM_HISTORY - seq % STREAM_HISTORY;

	return left < room ? left : room;
}

static void
remember(struct stream *s, struct view bytes)
{
	uint32_t skip = bytes.len > STREAM_HISTORY ? bytes.len - STREAM_HISTORY : 0;

	for (uint32_t done = skip, n; done < bytes.len; done += n) {
		n = before_turn(s->next + done, bytes.len - done);
		view_copy(bytes, done, s->history + (s->next + done) % STREAM_HISTORY, n);
	}
	s->known += bytes.len - skip;
	if (s->known > STREAM_HISTORY)
		s->known = STREAM_HISTORY;
}

/* Compares repeated bytes with the history; `old` of them were on the wire before. */
static void
compare(struct work *w, uint32_t seq, struct view bytes, uint32_t old)
{
	struct stream *s = w->s;
	uint32_t distance = s->next - seq, skip = distance > s->known ? distance - s->known : 0;

	w->pool->counters.repeated += old;
	w->pool->counters.incomparable += skip < old ? skip : old;
	if (bytes.len > old)
		bytes.len = old;
	for (uint32_t done = skip, n; done < bytes.len; done += n) {
		n = before_turn(seq + done, bytes.len - done);
		if (!view_same(bytes, done, s->history + (seq + done) % STREAM_HISTORY, n))
			w->differs = true;
	}
}

/* --- delivery --- */

static void
hand_on(struct work *w, struct view bytes, uint32_t missing)
{
	struct stream *s = w->s;

	if (bytes.len > 0) {
		remember(s, bytes);
		s->next += bytes.len;
		w->pool->counters.bytes += bytes.len;
		w->reader->bytes(w->reader->context, bytes);
	}
	if (missing == 0)
		return;
	s->known = 0;
	s->next += missing;
	w->pool->counters.gaps++;
	w->pool->counters.missing += missing;
	w->reader->odd(w->reader->context, ANOMALY_STREAM_GAP);
	w->reader->gap(w->reader->context, missing);
}

/* Delivers a run that starts at or before the present position. */
static void
take_run(struct work *w, uint32_t seq, struct view bytes, uint32_t wire)
{
	uint32_t old = w->s->next - seq;

	if (old > 0)
		compare(w, seq, bytes, old < wire ? old : wire);
	if (old >= wire)
		return;
	bytes = view_part(bytes, old, bytes.len);
	hand_on(w, bytes, wire - old - bytes.len);
}

static void
take_first(struct work *w)
{
	const struct piece_waiting *piece = waiting_at(w->pool, w->s->head);
	uint32_t seq = piece->seq, left = piece->have, cut = piece->wire - piece->have;

	for (uint16_t block = piece->block; block != 0; block = w->pool->block_next[block]) {
		uint32_t n = left < STREAM_BLOCK ? left : STREAM_BLOCK;

		take_run(w, seq, (struct view){w->pool->bytes + (size_t)block * STREAM_BLOCK, n}, n);
		seq += n;
		left -= n;
	}
	if (cut > 0)
		take_run(w, seq, (struct view){NULL, 0}, cut);
	waiting_drop_first(w->pool, w->s);
}

/* Delivers the waiting segments that are now in order. */
static void
drain(struct work *w)
{
	while (w->s->head != 0 && !seq_before(w->s->next, waiting_at(w->pool, w->s->head)->seq))
		take_first(w);
}

/* --- waiting segments --- */

static void
wait_for_rest(struct work *w, uint32_t seq, struct view bytes, uint32_t wire)
{
	struct stream *s = w->s;
	uint16_t *link = &s->head, index;

	while (*link != 0 && !seq_before(seq, waiting_at(w->pool, *link)->seq))
		link = &waiting_at(w->pool, *link)->next;
	index = waiting_keep(w->pool, s, seq, bytes, wire);
	waiting_at(w->pool, index)->next = *link;
	*link = index;
	w->pool->counters.early++;
}

/* Whether everything before `seq` is acknowledged: missing bytes were received, and will not be sent again. */
static bool
is_acked(const struct stream_segment *segment, uint32_t seq)
{
	return segment->has_acked && !seq_before(segment->acked, seq);
}

/* End of the first gap, given that a segment at `seq` has arrived. */
static uint32_t
hole_end(const struct work *w, uint32_t seq)
{
	uint32_t head = w->s->head != 0 ? waiting_at(w->pool, w->s->head)->seq : seq;

	return seq_before(head, seq) ? head : seq;
}

static void
give_up(struct work *w, uint32_t seq, bool crowded)
{
	if (crowded) {
		w->pool->counters.crowded++;
		w->reader->odd(w->reader->context, ANOMALY_STREAM_LIMIT);
	}
	hand_on(w, (struct view){NULL, 0}, seq - w->s->next);
	drain(w);
}

/* Evicts the waiting segments of the stream that has waited longest; the present stream has none.  False if no stream
 * waits. */
static bool
rob(struct work *w)
{
	struct stream *victim = w->pool->oldest;

	if (victim == NULL)
		return false;
	while (victim->head != 0)
		waiting_drop_first(w->pool, victim);
	w->pool->counters.robbed++;
	return true;
}

/* Handles a segment that is out of order.  True if it is kept; otherwise the gap before the next available bytes has
 * been given up. */
static bool
take_early(struct work *w, const struct stream_segment *segment)
{
	uint32_t end = hole_end(w, segment->seq), length = segment->bytes.len;

	if (is_acked(segment, end)) {
		give_up(w, end, false);
		return false;
	}
	while (waiting_is_allowed(w->s, length) && !waiting_has_room(w->pool, length) && w->s->head == 0)
		if (!rob(w))
			break;
	if (waiting_is_allowed(w->s, length) && waiting_has_room(w->pool, length)) {
		wait_for_rest(w, segment->seq, segment->bytes, segment->wire);
		return true;
	}
	give_up(w, end, true);
	return false;
}

/* A keepalive repeats the last byte, whose value is arbitrary (RFC 9293 section 3.8.4). */
static bool
is_keepalive(const struct stream *s, const struct stream_segment *segment)
{
	return segment->wire <= 1 && segment->seq == s->next - 1;
}

void
stream_feed(struct stream_pool *pool, struct stream *s, const struct stream_segment *segment,
	    const struct stream_reader *reader)
{
	struct work w = {.pool = pool, .s = s, .reader = reader};

	if (segment->wire == 0 || is_keepalive(s, segment))
		return;
	if (segment->seq - s->next > WINDOW_MAX && s->next - segment->seq > WINDOW_MAX &&
	    !is_acked(segment, segment->seq))
		return;
	while (seq_before(s->next, segment->seq))
		if (take_early(&w, segment))
			return;
	take_run(&w, segment->seq, segment->bytes, segment->wire);
	drain(&w);
	/* Missing bytes before a waiting segment that are acknowledged will not be sent again. */
	while (s->head != 0 && is_acked(segment, waiting_at(pool, s->head)->seq))
		give_up(&w, waiting_at(pool, s->head)->seq, false);
	if (w.differs) {
		pool->counters.differing++;
		reader->odd(reader->context, ANOMALY_RETRANSMISSION_DIFFERS);
	}
}
