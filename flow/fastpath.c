/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/fastpath.h"

#include "flow/record/record_count.h"
#include "flow/table/slots.h"
#include "flow/tcp/tcp_fastpath.h"

/* Without these gcc takes the block after so many conditions for a cold one and optimises it for size: with a division
 * and without common subexpressions. */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

void
flow_lookup_start(const struct flow_table *table, struct flow_lookup *lookup, const struct frame_peek *peek)
{
	struct flow_tuple tuple = {peek->src, peek->dst, peek->sport, peek->dport, peek->protocol, peek->version};

	lookup->hash = key_hash_tuple(table, &lookup->key, &lookup->sender, &tuple);
	slots_prefetch_home(table, lookup->hash);
}

void
flow_lookup_fetch_flow(const struct flow_table *table, struct flow_lookup *lookup)
{
	lookup->candidate = slots_prefetch_candidate(table, lookup->hash);
}

void
flow_lookup_fetch_record(const struct flow_table *table, struct flow_lookup *lookup)
{
	if (lookup->candidate == NULL)
		return;
	lookup->record = &table->records.entries[flow_index_of(table, lookup->candidate)];
	__builtin_prefetch(lookup->record);
	__builtin_prefetch(&table->records.times[flow_index_of(table, lookup->candidate)], 1);
}

void
flow_lookup_fetch_cold(const struct flow_table *table, struct flow_lookup *lookup, enum peek_kind kind)
{
	const struct flow *candidate = lookup->candidate;

	lookup->needs_cold = candidate != NULL && candidate->kind == FLOW_TCP &&
			     (kind < PEEK_TCP || !tcp_endpoint_is_fast(&candidate->tcp[0]) ||
			      !tcp_endpoint_is_fast(&candidate->tcp[1]));
	if (lookup->needs_cold)
		flow_cold_prefetch(table, candidate);
}

void
flow_lookup_fetch_links(const struct flow_table *table, const struct flow_lookup *lookup)
{
	if (lookup->needs_cold)
		flow_cold_prefetch_links(table, lookup->candidate);
}

/* Copies of these functions with and without records: `wire` is 0 in those without. */
#define FASTPATH_COPY static __attribute__((always_inline)) inline bool

static inline void
fastpath_record_tcp(struct flow_table *table, const struct flow_lookup *lookup, const struct frame_peek *peek,
		    uint64_t now, uint32_t wire, uint32_t round_trip_us)
{
	struct flow *flow = lookup->candidate;
	struct flow_time *time = &table->records.times[flow_index_of(table, flow)];
	struct record_packet p = {
	    .now = now,
	    .wire = wire,
	    .sender = lookup->sender,
	    .flags = slice_u8(peek_tcp_header(peek), 13),
	    .window_closed = peek->window == 0,
	    .from = &flow->tcp[lookup->sender],
	    .to = &flow->tcp[1 - lookup->sender],
	    .fresh = peek->payload_wire,
	    .answers = peek->ack == flow->tcp[1 - lookup->sender].nxt,
	};

	record_apply_packet(&table->records, lookup->record, time, p);
	if (round_trip_us != 0)
		record_add_round_trip(&table->records, time, lookup->sender, round_trip_us);
}

/* A segment that may open or close the connection.  Not inlined: few segments need it. */
static __attribute__((noinline)) bool
fastpath_apply_change(struct flow_table *table, const struct flow_lookup *lookup, const struct frame_peek *peek,
		      bool fin, uint64_t now)
{
	struct tcp_transition_segment s = {
	    .seq = peek->seq,
	    .ack = peek->ack,
	    .len = peek->payload_wire,
	    .tsval = peek_tsval(peek),
	    .tsecr = peek_tsecr(peek),
	    .timestamps = peek->has_timestamps,
	    .fin = fin,
	    .stamp = peek_send_stamp(peek),
	    .window = peek->window,
	};

	return table->omits_states && tcp_apply_transition(table, lookup->candidate, lookup->sender, &s, now);
}

FASTPATH_COPY
fastpath_apply_tcp(struct flow_table *table, const struct flow_lookup *lookup, const struct frame_peek *peek,
		   uint64_t now, uint32_t wire)
{
	struct flow *flow = lookup->candidate;
	struct tcp_fast_segment s = {
	    .seq = peek->seq, .ack = peek->ack, .len = peek->payload_wire, .tsval = peek_tsval(peek),
	    .window = peek->window};
	struct tcp_endpoint *from = tcp_endpoint_of(flow, lookup->sender);
	struct tcp_endpoint *to = tcp_endpoint_of(flow, 1 - lookup->sender);
	uint32_t us = (uint32_t)(now / 1000), round_trip_us;

	if (unlikely(!tcp_endpoint_is_fast(from)) || unlikely(!tcp_endpoint_is_fast(to)))
		return wire == 0 && fastpath_apply_change(table, lookup, peek, false, now);
	if (unlikely(!tcp_fast_may_send(from, &s)) || unlikely(!tcp_fast_may_receive(to, &s)) ||
	    unlikely(!tcp_fast_timestamp_is_new(to, &s)))
		return false;
	flow->last_seen = now;
	tcp_fast_apply_sent(from, &s);
	if (s.len != 0)
		tcp_fast_apply_payload(table->tcp_pools, from, &s, peek_send_stamp(peek), us);
	round_trip_us = tcp_fast_apply_received(to, &s, us);
	if (wire != 0)
		fastpath_record_tcp(table, lookup, peek, now, wire, round_trip_us);
	return true;
}

static inline void
fastpath_record_udp(struct flow_table *table, const struct flow_lookup *lookup, const struct frame_peek *peek,
		    uint64_t now, uint32_t wire)
{
	struct record_packet p = {
	    .now = now,
	    .wire = wire,
	    .sender = lookup->sender,
	    .udp = true,
	    .fresh = peek->payload_wire,
	    .answers = true,
	};

	record_apply_packet(&table->records, lookup->record,
			    &table->records.times[flow_index_of(table, lookup->candidate)], p);
}

/* An overdue flow goes the slow path, where its timer runs first. */
FASTPATH_COPY
fastpath_apply_copy(struct flow_table *table, const struct flow_lookup *lookup, enum peek_kind kind,
		    const struct frame_peek *peek, uint64_t now, uint32_t wire)
{
	struct flow *flow = lookup->candidate;

	if (unlikely(flow == NULL) || unlikely(!flow_key_equal(&flow->key, &lookup->key)) ||
	    unlikely(deadline_is_due(flow->deadline, now)))
		return false;
	if (wire != 0 && unlikely(!record_has_packets(lookup->record)))
		return false;
	if (likely(kind == PEEK_TCP))
		return fastpath_apply_tcp(table, lookup, peek, now, wire);
	if (kind == PEEK_FIN)
		return wire == 0 && fastpath_apply_change(table, lookup, peek, true, now);
	udp_count_datagram(flow, lookup->sender, peek->payload_wire, now);
	if (wire != 0)
		fastpath_record_udp(table, lookup, peek, now, wire);
	return true;
}

bool
fastpath_apply(struct flow_table *table, const struct flow_lookup *lookup, enum peek_kind kind,
	       const struct frame_peek *peek, uint64_t now)
{
	return fastpath_apply_copy(table, lookup, kind, peek, now, 0);
}

bool
fastpath_apply_recorded(struct flow_table *table, const struct flow_lookup *lookup, enum peek_kind kind,
			const struct frame_peek *peek, uint64_t now, uint32_t wire)
{
	return wire != 0 && fastpath_apply_copy(table, lookup, kind, peek, now, wire);
}

enum fastpath_obstacle
fastpath_find_obstacle(const struct flow_table *table, const struct flow_lookup *lookup, enum peek_kind kind,
		       uint64_t now, bool records)
{
	const struct flow *flow = lookup->candidate;
	bool changes =
	    flow->kind == FLOW_TCP && tcp_transition_is_possible(flow, lookup->sender, kind == PEEK_FIN);

	if (!flow_key_equal(&flow->key, &lookup->key))
		return FASTPATH_GONE;
	if (deadline_is_due(flow->deadline, now))
		return FASTPATH_TIMER;
	if ((records && !record_has_packets(lookup->record)) || (changes && (records || !table->omits_states)))
		return FASTPATH_REPORTED;
	return FASTPATH_SEGMENT;
}
