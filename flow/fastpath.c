/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/fastpath.h"

#include <pcap/dlt.h>

#include "flow/table/flow_key.h"
#include "flow/table/slots.h"
#include "flow/tcp/tcp_fastpath.h"

enum { FASTPATH_GROUP = 8, FASTPATH_STAGES = 5 };

static inline void
fastpath_parse(const struct flow_table *table, const struct frame *frame, struct flow_lookup *lookup)
{
	const struct frame_peek *g = &lookup->peek;
	struct flow_tuple tuple;

	lookup->candidate = NULL;
	lookup->peek_kind = frame->dlt == DLT_EN10MB ? peek_frame(&lookup->peek, frame) : PEEK_NONE;
	if (lookup->peek_kind == PEEK_NONE)
		return;
	tuple = (struct flow_tuple){g->src, g->dst, g->sport, g->dport, g->protocol, g->version};
	lookup->hash = key_hash_tuple(table, &lookup->key, &lookup->sender, &tuple);
	slots_prefetch_home(table, lookup->hash);
}

static inline void
fastpath_fetch_flow(const struct flow_table *table, struct flow_lookup *lookup)
{
	if (lookup->peek_kind != PEEK_NONE)
		lookup->candidate = slots_prefetch_candidate(table, lookup->hash);
}

/* Prefetch the cold half of a TCP flow that may change its state or be removed. */
static inline void
fastpath_fetch_cold(const struct flow_table *table, struct flow_lookup *lookup)
{
	const struct flow *near = lookup->candidate;

	lookup->needs_cold = near != NULL && near->kind == FLOW_TCP &&
			     (lookup->peek_kind == PEEK_TUPLE || !tcp_endpoint_is_fast(&near->tcp[0]) ||
			      !tcp_endpoint_is_fast(&near->tcp[1]));
	if (lookup->needs_cold)
		flow_cold_prefetch(table, near);
}

/* Prefetch the cold halves of that flow's list neighbours too. */
static inline void
fastpath_fetch_links(const struct flow_table *table, const struct flow_lookup *lookup)
{
	if (lookup->needs_cold)
		flow_cold_prefetch_links(table, lookup->candidate);
}

static inline bool
fastpath_apply_tcp(struct flow_table *table, struct flow *flow, const struct flow_lookup *lookup, uint64_t now)
{
	const struct frame_peek *g = &lookup->peek;
	struct tcp_fast_segment s = {.seq = g->seq, .ack = g->ack, .len = g->payload_wire, .window = g->window};
	struct tcp_endpoint *from = &flow->tcp[lookup->sender], *to = &flow->tcp[1 - lookup->sender];
	uint32_t us = (uint32_t)(now / 1000);

	if (!tcp_endpoint_is_fast(from) || !tcp_endpoint_is_fast(to) || !tcp_fast_may_send(from, &s) ||
	    !tcp_fast_may_receive(to, &s))
		return false;
	flow->last_seen = now;
	tcp_fast_apply_sent(table->tcp_pools, from, &s, us);
	tcp_fast_apply_received(to, &s, us);
	return true;
}

static inline bool
fastpath_apply(const struct fastpath *fastpath, const struct flow_lookup *lookup)
{
	struct flow *flow = lookup->candidate;
	uint64_t now = fastpath->clock;

	if (flow == NULL || lookup->peek_kind < PEEK_TCP || flow->local_epoch != fastpath->local_epoch ||
	    !flow_key_equal(&flow->key, &lookup->key) || deadline_is_due(flow->deadline, now))
		return false;
	if (lookup->peek_kind == PEEK_TCP)
		return fastpath_apply_tcp(fastpath->table, flow, lookup, now);
	udp_count_datagram(flow, lookup->sender, lookup->peek.payload_wire, now);
	return true;
}

static inline void
fastpath_finish_frame(struct fastpath *fastpath, const struct frame *frame, const struct flow_lookup *lookup)
{
	if (__builtin_expect(frame->ts >= fastpath->clock, 1))
		fastpath->clock = frame->ts;
	else
		fastpath->backward_frames++;
	fastpath->bytes += frame->len;
	if (__builtin_expect(fastpath_apply(fastpath, lookup), 1))
		fastpath->fast_frames++;
	else
		fastpath->slow_path(fastpath, frame, lookup);
}

/* Number of frames in the group that starts at `begin`, which may lie before the first frame or behind the last. */
static inline unsigned
fastpath_group_size(unsigned begin, unsigned count)
{
	if (begin >= count)
		return 0;
	return count - begin < FASTPATH_GROUP ? count - begin : FASTPATH_GROUP;
}

/* Software pipeline over groups of frames: later steps of a group run after earlier steps of the groups behind it, so
 * that memory is fetched meanwhile.  With 100,000 connections this saves 8 ns a frame of 107 against running all steps
 * on 16 frames in turn, and 2 ns against single frames at distances of 8 and 20; inlining everything saves 3 more.
 * With a million connections of a few packets each the third and fourth step save 18 ns of 201; with 100,000 longer
 * ones they cost 2. */
void
fastpath_run(struct fastpath *fastpath, const struct frame *frames, unsigned count)
{
	const struct flow_table *table = fastpath->table;
	struct flow_lookup lookups[FASTPATH_STAGES][FASTPATH_GROUP];
	struct flow_lookup *of[FASTPATH_STAGES]; /* the group at each step */

	for (unsigned step = 0; step < FASTPATH_STAGES; step++)
		of[step] = lookups[step];
	for (unsigned at = 0; at < count + (FASTPATH_STAGES - 1) * FASTPATH_GROUP; at += FASTPATH_GROUP) {
		struct flow_lookup *last = of[FASTPATH_STAGES - 1];
		unsigned n;

		memmove(of + 1, of, (FASTPATH_STAGES - 1) * sizeof of[0]);
		of[0] = last;
		n = fastpath_group_size(at, count);
		for (unsigned i = 0; i < n; i++)
			fastpath_parse(table, &frames[at + i], &of[0][i]);
		n = fastpath_group_size(at - FASTPATH_GROUP, count);
		for (unsigned i = 0; i < n; i++)
			fastpath_fetch_flow(table, &of[1][i]);
		n = fastpath_group_size(at - 2 * FASTPATH_GROUP, count);
		for (unsigned i = 0; i < n; i++)
			fastpath_fetch_cold(table, &of[2][i]);
		n = fastpath_group_size(at - 3 * FASTPATH_GROUP, count);
		for (unsigned i = 0; i < n; i++)
			fastpath_fetch_links(table, &of[3][i]);
		n = fastpath_group_size(at - 4 * FASTPATH_GROUP, count);
		for (unsigned i = 0; i < n; i++)
			fastpath_finish_frame(fastpath, &frames[at - 4 * FASTPATH_GROUP + i], &of[4][i]);
	}
}
