/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short path: data and ACKs of an established connection, in order.  It touches each endpoint's cache line and
 * appends to the send log.  Everything else is judged in tcp_send.c and tcp_receive.c.
 */
#ifndef NETOBS_FLOW_TCP_TCP_FASTPATH_H
#define NETOBS_FLOW_TCP_TCP_FASTPATH_H

#include "flow/tcp/tcp_segment.h"

/* A segment with ACK, without SYN, FIN, RST or SACK: all that the short path asks of it. */
struct plain_segment {
	uint32_t seq, ack;
	uint32_t len;	 /* payload */
	uint16_t window; /* raw */
};

static inline bool
plain_end(const struct tcp_end *e)
{
	return e->state == TCP_STATE_ESTABLISHED && e->trouble == 0;
}

/* An ACK beyond rcv_nxt proves that something went by unseen; a lone byte may probe a closed window. */
static inline bool
plain_to_send(const struct tcp_end *e, const struct plain_segment *s)
{
	return s->seq == e->nxt && !seq_before(e->rcv_nxt, s->ack) && s->len != 1;
}

/* In order, and either it acknowledges something or nothing waits for that: no duplicate ACK. */
static inline bool
plain_to_receive(const struct tcp_end *e, const struct plain_segment *s)
{
	uint32_t news = s->ack - e->una;

	return s->seq == e->rcv_nxt && news <= e->nxt - e->una && (news != 0 || s->len != 0 || e->una == e->nxt);
}

static inline void
plain_sent(struct tcp_store *store, struct tcp_end *e, const struct plain_segment *s, uint32_t us)
{
	e->segments++;
	e->flags &= (uint8_t)~TCP_END_RETRANSMIT;
	e->acked = seq_max(e->acked, s->ack);
	e->wnd = (uint32_t)s->window << e->wscale;
	if (s->len == 0)
		return;
	e->nxt += s->len;
	e->bytes += s->len;
	log_append(store, e, s->seq, e->nxt, us, false);
	if ((e->flags & TCP_END_RTT_TIMED) == 0)
		rtt_time(e, s->seq, us);
}

static inline void
plain_received(struct tcp_end *e, const struct plain_segment *s, uint32_t us)
{
	e->rcv_nxt += s->len;
	if (s->ack == e->una)
		return;
	e->una = s->ack;
	rtt_acked(e, us);
}

#endif
