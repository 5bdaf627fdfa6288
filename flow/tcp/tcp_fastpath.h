/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path: in-order data and ACKs of an established connection.  It touches the cache line of each endpoint and
 * appends to the send log.  tcp_transition.c handles segments in order that open or close a connection, tcp_send.c
 * and tcp_receive.c every other one.
 */
#ifndef NETOBS_FLOW_TCP_TCP_FASTPATH_H
#define NETOBS_FLOW_TCP_TCP_FASTPATH_H

#include "flow/flow.h"
#include "flow/tcp/tcp_internal.h"

/* The fields of a segment that the fast path uses; the segment has ACK and no SYN, RST or SACK. */
struct tcp_fast_segment {
	uint32_t seq, ack;
	uint32_t len;	 /* payload */
	uint32_t tsval;	 /* 0 without timestamps */
	uint16_t window; /* as on the wire, unscaled */
};

static inline bool
tcp_endpoint_is_fast(const struct tcp_endpoint *e)
{
	/* Both bytes in one comparison. */
	return ((uint32_t)e->state | (uint32_t)e->slow_reasons << 8) == TCP_STATE_ESTABLISHED;
}

/* In order, but neither an ACK beyond rcv_nxt, which proves bytes that were not captured, nor one below the last, which
 * may be forged, nor a single byte, which may probe a closed window. */
static inline bool
tcp_fast_may_send(const struct tcp_endpoint *e, const struct tcp_fast_segment *s)
{
	return s->seq == e->nxt && s->ack - e->last_ack_sent <= e->rcv_nxt - e->last_ack_sent && s->len != 1;
}

/* Whether the timestamp is not older than the last one that the endpoint accepted (PAWS), if there is one. */
static inline bool
tcp_fast_timestamp_is_new(const struct tcp_endpoint *e, const struct tcp_fast_segment *s)
{
	return e->ts_recent == 0 || !tcp_seq_before(s->tsval, e->ts_recent);
}

/* In order and no duplicate ACK: it acknowledges something, carries data, or nothing is outstanding.  A single byte may
 * probe a closed window, and a closed window accepts no data; that of an endpoint that was never captured sending is
 * unknown. */
static inline bool
tcp_fast_may_receive(const struct tcp_endpoint *e, const struct tcp_fast_segment *s)
{
	uint32_t acked = s->ack - e->una;

	return s->seq == e->rcv_nxt && acked <= e->nxt - e->una && s->len != 1 &&
	       (s->len != 0 ? e->wnd != 0 || e->segments_sent == 0 : acked != 0 || e->una == e->nxt);
}

/* Counts a segment of the endpoint.  Bytes that were acknowledged before the first one were not captured. */
static inline void
tcp_count_segment(struct tcp_endpoint *e)
{
	if (__builtin_expect(e->segments_sent++ == 0, 0))
		e->bytes = 0;
}

/* A segment with payload takes tcp_fast_apply_payload(), too. */
static inline void
tcp_fast_apply_sent(struct tcp_endpoint *e, const struct tcp_fast_segment *s)
{
	tcp_count_segment(e);
	e->flags &= (uint8_t)~TCP_EP_LAST_RETRANSMITTED;
	e->last_ack_sent = tcp_seq_max(e->last_ack_sent, s->ack);
	e->wnd = (uint32_t)s->window << e->wscale;
}

/* `stamp`: the send stamp. */
static inline void
tcp_fast_apply_payload(struct tcp_pools *pools, struct tcp_endpoint *e, const struct tcp_fast_segment *s,
		       uint16_t stamp, uint32_t us)
{
	uint32_t end_seq = s->seq + s->len;

	e->nxt = end_seq;
	e->bytes += s->len;
	send_log_append(pools, e, &(struct send_log_record){s->seq, end_seq, us, stamp, false});
	if ((e->flags & TCP_EP_RTT_PENDING) == 0)
		tcp_rtt_start(e, s->seq, us);
}

/* Returns the round trip sample that the segment completes, 0 if there is none. */
static inline uint32_t
tcp_fast_apply_received(struct tcp_endpoint *e, const struct tcp_fast_segment *s, uint32_t us)
{
	if (s->tsval != 0 && e->segments_sent != 0 && !tcp_seq_before(e->last_ack_sent, e->rcv_nxt))
		e->ts_recent = s->tsval;
	e->rcv_nxt += s->len;
	if (s->ack == e->una)
		return 0;
	e->una = s->ack;
	return tcp_rtt_on_ack(e, us);
}

/* --- Segments in order with which a connection opens and closes. --- */

/* A segment with ACK, and neither SYN nor RST nor any option but timestamps. */
struct tcp_transition_segment {
	uint32_t seq, ack;
	uint32_t len;	       /* payload */
	uint32_t tsval, tsecr; /* 0 without timestamps */
	bool timestamps;
	bool fin;
	uint16_t stamp;	 /* send stamp */
	uint16_t window; /* as on the wire, unscaled */
};

/* Applies a segment in order that changes the state of a connection: the ACK that completes the handshake, a FIN, the
 * ACK of a FIN, or both in one segment.  The flow is then as after tcp_segment_sent() and
 * tcp_segment_received(); no event is reported.  No record of the flow may be kept, and events must be omitted
 * (flow_table_omit_states()).  False, with nothing changed, for all other segments. */
bool tcp_apply_transition(struct flow_table *table, struct flow *flow, unsigned sender,
			  const struct tcp_transition_segment *s, uint64_t now);

/* Whether a segment may be one that tcp_apply_transition() applies, by the states of its endpoints. */
bool tcp_transition_is_possible(const struct flow *flow, unsigned sender, bool fin);

#endif
