/* SPDX-License-Identifier: BSD-2-Clause */
/* Creation of TCP connections, and new incarnations: SYNs between the two ends of a connection that is known. */
#include "flow/tcp/tcp_check.h"
#include "flow/tcp/tcp_internal.h"

/* A SYN that is repeated after this long without any segment of its receiver was not answered with a challenge ACK: a
 * retransmission timer is not shorter. */
#define SYN_UNANSWERED_NS (900 * (NANOSECONDS / 1000))

enum syn_kind {
	SYN_OF_FLOW,	/* belongs to the connection: its first, a repetition, an answer */
	SYN_ACCEPTED,	/* starts a new connection */
	SYN_UNDECIDED,	/* its receiver ignores it, unless frames are missing in the capture */
	SYN_CONFIRMED,	/* proves that the pending SYN of the flow has started a new connection */
};

/* Linux's rule for TIME_WAIT: the SYN has a larger sequence number or a newer timestamp (RFC 6191). */
static bool
tcp_time_wait_accepts(const struct tcp_endpoint *e, const struct tcp_layer *t)
{
	bool timestamps = (t->options & TCP_OPTION_TIMESTAMPS) != 0 && e->ts_recent != 0;

	if (timestamps && t->tsval != e->ts_recent)
		return tcp_seq_before(e->ts_recent, t->tsval);
	return tcp_seq_before(e->rcv_nxt, t->seq);
}

/* A SYN with another ISN comes from another socket.  An endpoint with a connection does not accept it, but answers with
 * a challenge ACK, and the sender, if it has no connection, with a RST (RFC 5961 section 4). */
static enum syn_kind
tcp_classify_syn(const struct tcp_endpoint *sender, const struct tcp_endpoint *receiver, const struct tcp_layer *t)
{
	if ((sender->flags & TCP_EP_SEQ_KNOWN) == 0 && sender->state == TCP_STATE_NONE)
		return SYN_OF_FLOW;
	if (!tcp_acceptance_is_known(receiver))
		return SYN_ACCEPTED;
	if (receiver->state == TCP_STATE_TIME_WAIT && tcp_time_wait_accepts(receiver, t))
		return SYN_ACCEPTED;
	return SYN_UNDECIDED;
}

/* A SYN,ACK with another ISN answers the peer's SYN, or the SYN of an attempt that was not captured; the peer then
 * refuses or proves it. */
static enum syn_kind
tcp_classify_syn_ack(const struct tcp_endpoint *sender, const struct tcp_endpoint *receiver, const struct tcp_layer *t)
{
	if (sender->state == TCP_STATE_NONE || sender->state == TCP_STATE_CLOSED)
		return SYN_OF_FLOW;
	if ((sender->state == TCP_STATE_SYN_RECEIVED && !tcp_ack_is_deferred(sender)) ||
	    (sender->flags & TCP_EP_ISS_KNOWN) == 0) {
		if ((receiver->flags & TCP_EP_SEQ_KNOWN) == 0 ||
		    (!tcp_seq_before(t->ack, receiver->una) && !tcp_seq_before(receiver->nxt, t->ack)))
			return SYN_OF_FLOW;
	} else if (t->ack == receiver->iss + 1) {
		return SYN_OF_FLOW;
	}
	return tcp_acceptance_is_known(receiver) || receiver->state == TCP_STATE_SYN_SENT ? SYN_UNDECIDED :
											    SYN_ACCEPTED;
}

/* Whether the segment answers the pending SYN as its receiver does if it has accepted or refused it; or repeats a SYN
 * that was not answered. */
static bool
tcp_confirms_pending(const struct pending_syn *syn, const struct flow *flow, unsigned sender, const struct tcp_layer *t,
		     uint64_t now)
{
	bool syn_ack = (syn->header.flags & TCP_ACK) != 0, acks = (t->flags & TCP_ACK) != 0;

	if (sender == syn->sender)
		return (t->flags & TCP_SYN) != 0 && t->seq == syn->header.seq && t->ack == syn->header.ack &&
		       flow->tcp[1 - sender].segments_sent == syn->reply_segments &&
		       now >= deadline_add(syn->ts, SYN_UNANSWERED_NS);
	if (!acks || t->ack != syn->header.seq + 1)
		return false;
	/* A challenge ACK has the numbers of the connection. */
	if (syn_ack)
		return (t->flags & TCP_SYN) == 0 && t->seq == syn->header.ack && t->ack != flow->tcp[sender].rcv_nxt;
	return (t->flags & (TCP_SYN | TCP_RST)) != 0;
}

/* The pending SYN of the flow.  If it was replaced, or is so old that its sender has given up, it no longer keeps the
 * flow off the fast path. */
static const struct pending_syn *
tcp_current_pending_syn(struct flow_table *table, struct flow *flow, uint64_t now)
{
	const struct pending_syn *syn = pending_syn_find(table, flow);

	if (syn != NULL && now < deadline_add(syn->ts, flow_table_limits(table)->tcp_connect_ns))
		return syn;
	pending_syn_remove(table, flow);
	return NULL;
}

static enum syn_kind
tcp_classify_incarnation(struct flow_table *table, struct flow *flow, unsigned sender, const struct tcp_layer *t,
			 uint64_t now)
{
	const struct tcp_endpoint *e = &flow->tcp[sender], *peer = &flow->tcp[1 - sender];
	const struct pending_syn *syn = (e->slow_reasons & TCP_SLOW_UNDECIDED) == 0 ?
						NULL :
						tcp_current_pending_syn(table, flow, now);

	if (syn != NULL && tcp_confirms_pending(syn, flow, sender, t, now))
		return SYN_CONFIRMED;
	if ((t->flags & (TCP_SYN | TCP_RST | TCP_FIN)) != TCP_SYN ||
	    ((e->flags & TCP_EP_ISS_KNOWN) != 0 && e->iss == t->seq))
		return SYN_OF_FLOW;
	return (t->flags & TCP_ACK) != 0 ? tcp_classify_syn_ack(e, peer, t) : tcp_classify_syn(e, peer, t);
}

static void
tcp_flow_supersede(struct flow_table *table, struct flow *flow, uint64_t now)
{
	struct flow_events events;

	record_prepare(table, flow);
	events.count = 0;
	tcp_apply_deferred(table, flow, 0, now, &events);
	tcp_apply_deferred(table, flow, 1, now, &events);
	tcp_change_state(table, flow, flow->first_sender, TCP_INPUT_SUPERSEDED, now, &events);
	tcp_change_state(table, flow, 1u - flow->first_sender, TCP_INPUT_SUPERSEDED, now, &events);
	flow_report_end(table, flow, true);
	flow_report_events(table, flow, &events);
	record_report_removal(table, flow, RECORD_IDLE);
	pending_syn_remove(table, flow);
	loss_pool_release(table, flow);
	flow_table_remove_flow(table, flow);
	flow_table_counters_rw(table)->reused++;
}

/* --- creation --- */

/* Whether the segment proves a connection, or at least an attempt. */
static bool
tcp_segment_starts_flow(const struct tcp_layer *t)
{
	if ((t->flags & TCP_RST) != 0)
		return false;
	if ((t->flags & TCP_SYN) != 0)
		return (t->flags & (TCP_FIN | TCP_ACK)) != TCP_FIN;
	return (t->flags & TCP_ACK) != 0;
}

static struct flow *
tcp_flow_create(struct flow_table *table, const struct tcp_layer *t, const struct flow_key *key, uint32_t hash,
		unsigned sender, uint64_t now)
{
	const struct flow_limits *limits = flow_table_limits(table);

	if ((t->flags & TCP_SYN) != 0)
		return flow_table_create_flow(table, key, hash, FLOW_TCP, EVICT_CLASS_HALF_OPEN, sender, now,
					      deadline_add(now, limits->tcp_connect_ns));
	return flow_table_create_flow(table, key, hash, FLOW_TCP, EVICT_CLASS_ESTABLISHED, sender, now,
				      deadline_add(now, limits->tcp_idle_ns));
}

/* Creates the flow of a segment that does not go on with a known connection. */
static struct flow *
tcp_flow_begin(struct flow_table *table, const struct tcp_layer *t, const struct flow_key *key, uint32_t hash,
	       unsigned sender, uint64_t now)
{
	if ((t->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		flow_table_counters_rw(table)->midstream++;
	return tcp_flow_create(table, t, key, hash, sender, now);
}

/* --- pending SYNs --- */

static void
tcp_store_pending_syn(struct flow_table *table, struct flow *flow, unsigned sender, const struct packet *packet,
		      uint64_t now)
{
	const struct pending_syn *old = pending_syn_find(table, flow);

	if (old != NULL && old->sender == sender && old->header.seq == packet->tcp.seq)
		return;
	pending_syn_store(table, flow,
			  &(struct pending_syn){
			      .ts = now,
			      .reply_segments = flow->tcp[1 - sender].segments_sent,
			      .payload_len = packet->payload_wire,
			      .wire = packet->frame != NULL ? packet->frame->len : 0,
			      .sender = sender,
			      .header = packet->tcp,
			  });
}

/* The pending SYN has started a new connection: its two endpoints take it up, late. */
static struct flow *
tcp_apply_pending_syn(struct flow_table *table, struct flow *old, uint64_t now)
{
	const struct pending_syn syn = *pending_syn_find(table, old);
	struct frame frame = {.len = syn.wire};
	struct packet packet = {
	    .frame = &frame, .transport = TRANSPORT_TCP, .tcp = syn.header, .payload_wire = syn.payload_len};
	struct record_origin origin = record_origin(table, old);
	struct flow_key key = old->key;
	uint32_t hash = old->hash;
	uint8_t local = old->local, same_host = old->same_host, slow = old->slow, summed = old->summed;
	struct flow_events events;
	struct flow *flow;

	pending_syn_find(table, old)->ts = old->last_seen; /* after the end of the old connection */
	tcp_flow_supersede(table, old, now);
	flow = tcp_flow_begin(table, &syn.header, &key, hash, syn.sender, now);
	flow->local = local & 3u;
	flow->same_host = same_host & 1u;
	flow->summed = summed & 3u;
	flow->slow = slow & 1u;
	record_set_origin(table, flow, origin);
	events.count = 0;
	tcp_segment_sent(table, flow, syn.sender, &packet, now, &events);
	send_log_set_time(flow_table_tcp_pools(table), &flow->tcp[syn.sender], (uint32_t)(syn.ts / 1000));
	flow_report_events(table, flow, &events);
	events.count = 0;
	tcp_segment_received(table, flow, 1 - syn.sender, &packet, now, &events);
	flow_report_events(table, flow, &events);
	return flow;
}

/* --- after a reset --- */

/* The endpoint of a new connection that continues the numbers of `old`.  `received`: what its peer had received of it
 * when it was reset.  A new socket has no state until a segment is processed. */
static void
tcp_continue_endpoint(struct tcp_endpoint *e, const struct tcp_endpoint *old, uint32_t received)
{
	*e = *old;
	e->slow_reasons = 0;
	e->retransmitted = 0;
	e->fin_unproven = 0;
	e->log_tail = 0;
	e->srtt_us = e->rttvar_us = 0;
	e->flags &= (uint8_t)~(TCP_EP_RTT_PENDING | TCP_EP_LAST_RETRANSMITTED);
	e->iss = received - 1;
	/* Those of its bytes that were captured: numbers may be missing in between. */
	e->bytes = e->nxt - received < old->bytes ? e->nxt - received : old->bytes;
	e->segments_sent = e->bytes != 0;
	if (tcp_is_new_socket(old))
		e->state = TCP_STATE_NONE;
	else
		tcp_reopen(e);
}

/* Another socket goes on with the numbers of one that was reset: its connection is another one, too. */
static struct flow *
tcp_flow_take_new_socket(struct flow_table *table, struct flow *old, const struct tcp_layer *t, unsigned sender,
			 uint64_t now)
{
	const struct tcp_endpoint ends[2] = {old->tcp[0], old->tcp[1]};
	struct record_origin origin = record_origin(table, old);
	struct flow_cold cold = *flow_cold(table, old);
	struct flow_key key = old->key;
	uint32_t hash = old->hash;
	uint8_t local = old->local, same_host = old->same_host, slow = old->slow, summed = old->summed;
	struct flow *flow;
	unsigned end;

	tcp_flow_supersede(table, old, now);
	flow = tcp_flow_create(table, t, &key, hash, sender, now);
	flow->local = local & 3u;
	flow->same_host = same_host & 1u;
	flow->summed = summed & 3u;
	flow->slow = slow & 1u;
	record_set_origin(table, flow, origin);
	for (end = 0; end < 2; end++) {
		tcp_continue_endpoint(&flow->tcp[end], &ends[end], ends[1 - end].rcv_nxt);
		flow_cold_set_syn_options(flow_cold(table, flow), end, flow_cold_wscale(&cold, end),
					  flow_cold_has_timestamps(&cold));
		flow_cold(table, flow)->syn_mss[end] = cold.syn_mss[end];
	}
	record_take_over(table, flow, &origin);
	return flow;
}

static bool
tcp_flow_has_new_socket(struct flow_table *table, const struct flow *flow, unsigned sender, const struct tcp_layer *t,
			uint64_t now)
{
	return tcp_goes_on_after_reset(table, flow, sender, t, now) &&
	       (tcp_is_new_socket(&flow->tcp[0]) || tcp_is_new_socket(&flow->tcp[1]));
}

/* --- lookup --- */

/* Not inlined: few segments need it. */
static __attribute__((noinline)) struct flow *
tcp_flow_take_syn(struct flow_table *table, struct flow *flow, const struct packet *packet, unsigned sender,
		  uint64_t now)
{
	if (tcp_flow_has_new_socket(table, flow, sender, &packet->tcp, now))
		return tcp_flow_take_new_socket(table, flow, &packet->tcp, sender, now);
	switch (tcp_classify_incarnation(table, flow, sender, &packet->tcp, now)) {
	case SYN_OF_FLOW:
		break;
	case SYN_ACCEPTED:
		tcp_flow_supersede(table, flow, now);
		return NULL;
	case SYN_UNDECIDED:
		tcp_store_pending_syn(table, flow, sender, packet, now);
		break;
	case SYN_CONFIRMED:
		flow = tcp_apply_pending_syn(table, flow, now);
		break;
	}
	flow->last_seen = now;
	return flow;
}

struct flow *
flow_table_lookup_tcp(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
		      unsigned sender, uint64_t now)
{
	struct flow *flow = flow_table_lookup_live(table, key, hash, now);
	const struct tcp_layer *t = &packet->tcp;

	if (__builtin_expect(flow != NULL, 1)) {
		if (!tcp_timestamps_are_valid(flow, now))
			flow->tcp[0].ts_recent = flow->tcp[1].ts_recent = 0;
		if (__builtin_expect((t->flags & TCP_SYN) == 0 && flow->tcp[sender].state != TCP_STATE_CLOSED &&
				     (flow->tcp[sender].slow_reasons & TCP_SLOW_UNDECIDED) == 0, 1)) {
			flow->last_seen = now;
			return flow;
		}
		flow = tcp_flow_take_syn(table, flow, packet, sender, now);
		if (flow != NULL)
			return flow;
	}
	return tcp_segment_starts_flow(t) ? tcp_flow_begin(table, t, key, hash, sender, now) : NULL;
}
