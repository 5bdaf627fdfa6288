/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a segment does to the endpoint that receives it: RFC 9293 section 3.10.7 in its order (sequence, RST, SYN, ACK,
 * data, FIN), with the RST rules of RFC 5961 as Linux has them.
 *
 * The capture may have missed segments of the endpoint, so one that was never seen sending accepts everything.  What
 * is accepted here by mistake the endpoint's own next segment puts right.
 */
#include "flow/tcp/tcp_loss.h"
#include "flow/tcp/tcp_segment.h"

/* The widest window there can be (RFC 7323): for an endpoint whose scaling was not seen. */
#define WIDEST_WINDOW ((uint32_t)0xffff << 14)

static bool
was_seen(const struct tcp_end *e)
{
	return e->segments != 0;
}

/* Linux's tcp_sequence(): it ends no earlier than what was acknowledged last, and begins within the window that was
 * advertised with that. */
static bool
in_window(const struct tcp_step *step, uint32_t length)
{
	const struct tcp_end *e = step->e;
	uint32_t seq = step->t->seq;
	uint32_t window = (e->flags & step->peer->flags & TCP_END_ISS) != 0 ? e->wnd : WIDEST_WINDOW;

	if (!was_seen(e))
		return true;
	/* With a window that closed behind data already received the next byte is still where it may begin. */
	return !seq_before(seq + length, e->acked) && !seq_before(seq_max(e->acked + window, e->rcv_nxt), seq);
}

/* --- before its own SYN is answered --- */

static void
accept_syn(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;

	e->rcv_nxt = t->seq + 1;
	e->acked = t->seq;
	if ((e->flags & TCP_END_WSCALE) != 0)
		e->wscale = (t->options & TCP_OPTION_WSCALE) != 0 ?
				    cold_shift(flow_cold(step->table, step->flow), step->end) :
				    0;
}

static void
received_in_syn_sent(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	bool acks = (t->flags & TCP_ACK) != 0;

	if (acks && !seq_acks(e->iss, t->ack, e->nxt))
		return;
	if ((t->flags & TCP_RST) != 0) {
		if (!acks)
			return;
		tcp_step_tell(step, EVENT_TCP_CONNECT_REFUSED);
		tcp_step_input(step, INPUT_RECV_RST);
		return;
	}
	if ((t->flags & (TCP_SYN | TCP_FIN)) != TCP_SYN)
		return;
	accept_syn(step);
	if (!acks) {
		tcp_step_input(step, INPUT_RECV_SYN);
		return;
	}
	e->una = t->ack;
	rtt_acked(e, step->us);
	tcp_step_tell(step, EVENT_TCP_CONNECT_ESTABLISHED);
	tcp_step_input(step, INPUT_RECV_SYN_ACK);
}

/* Nothing was seen of the endpoint itself: it learns its numbers from the peer, but has no state before it is
 * proved. */
static void
received_unknown(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;

	if ((t->flags & TCP_RST) != 0)
		return;
	if ((t->flags & TCP_SYN) != 0) {
		e->rcv_nxt = t->seq + 1;
		e->acked = t->seq;
		return;
	}
	if (step->peer->segments == 1)
		e->acked = e->rcv_nxt = t->seq;
	if (!seq_before(e->rcv_nxt, t->seq))
		e->rcv_nxt = seq_max(e->rcv_nxt, t->seq + step->len);
	if ((t->flags & TCP_ACK) == 0 || step->len == 0 || step->peer->state == TCP_STATE_SYN_RECEIVED)
		return;
	e->una = e->nxt = t->ack;
	e->flags |= TCP_END_SENT;
	tcp_step_input(step, INPUT_RECV_DATA);
}

/* --- RST --- */

/* Whether the endpoint believes a RST at once; one that is only inside the window is answered with a challenge. */
static bool
reset_matches(const struct tcp_step *step)
{
	const struct tcp_end *e = step->e;
	uint32_t seq = step->t->seq, edge;

	if (!was_seen(e) || seq == e->rcv_nxt)
		return true;
	switch (e->state) {
	case TCP_STATE_SYN_RECEIVED:
		/* A request that waits for its ACK: anything in the window (Linux tcp_check_req). */
		if ((e->flags & TCP_END_ACTIVE) == 0 && in_window(step, 0) && !seq_before(seq, e->rcv_nxt))
			return true;
		break;
	case TCP_STATE_CLOSE_WAIT:
	case TCP_STATE_LAST_ACK:
	case TCP_STATE_CLOSING:
		/* Its FIN's own number: who sent it forgot to count it (Linux tcp_reset_check). */
		if (seq == e->rcv_nxt - 1)
			return true;
		break;
	default:
		break;
	}
	return tcp_loss_sack_edge(step, &edge) && seq == edge;
}

/* --- ACK, data, FIN --- */

static void
restart_time_wait(struct tcp_step *step)
{
	struct tcp_end *e = step->e;

	if (e->state != TCP_STATE_TIME_WAIT || step->changed)
		return;
	e->until = deadline_after(step->now, flow_table_limits(step->table)->tcp_time_wait_ns);
	tcp_settle(step->table, step->flow, step->now);
}

/* A FIN that waits to be shown came in before this segment, so it takes effect before.  But not if the two become one:
 * of one segment the ACK counts first; and sent again, the FIN had been lost. */
static bool
is_behind_fin(const struct tcp_step *step)
{
	return (step->e->trouble & TCP_TROUBLE_FIN) != 0 && (step->t->flags & TCP_FIN) == 0 &&
	       !tcp_loss_melts_with_fin(step);
}

/* False if the ACK number makes the whole segment unacceptable. */
static bool
received_ack(struct tcp_step *step)
{
	struct tcp_end *e = step->e;
	uint32_t ack = step->t->ack, una = e->una;

	if (!was_seen(e)) {
		e->nxt = seq_max(e->nxt, ack);
	} else if (seq_before(e->nxt, ack)) {
		return false;
	}
	if (e->state == TCP_STATE_SYN_RECEIVED) {
		if (!seq_acks(e->iss, ack, e->nxt))
			return false;
		tcp_step_tell(step, (e->flags & TCP_END_ACTIVE) != 0 ? EVENT_TCP_CONNECT_ESTABLISHED :
								       EVENT_TCP_ACCEPT_ESTABLISHED);
	}
	if (seq_before(una, ack)) {
		e->una = ack;
		rtt_acked(e, step->us);
	}
	if (e->state == TCP_STATE_SYN_RECEIVED)
		tcp_step_input(step, INPUT_RECV_ACK_OF_SYN);
	if (e->state != TCP_STATE_TIME_WAIT)
		tcp_loss_acked(step, una);
	if (tcp_fin_is_acked(e) && !is_behind_fin(step))
		tcp_step_input(step, INPUT_RECV_ACK_OF_FIN);
	return true;
}

static void
received_space(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	uint32_t end = t->seq + step->len;

	if (seq_before(e->rcv_nxt, t->seq) || seq_before(end, e->rcv_nxt))
		return;
	e->rcv_nxt = end;
	if ((t->flags & TCP_FIN) == 0)
		return;
	e->rcv_nxt++;
	tcp_step_await(step, TCP_TROUBLE_FIN);
	if ((e->trouble & TCP_TROUBLE_FIN) != 0 && !tcp_fin_is_acked(e))
		tcp_loss_fin_waits(step);
}

static void
received_synchronized(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	uint32_t length = step->len + ((t->flags & TCP_FIN) != 0);

	if ((t->flags & TCP_RST) != 0) {
		if (!reset_matches(step))
			return;
		if (e->state == TCP_STATE_SYN_RECEIVED)
			tcp_step_input(step, INPUT_RECV_RST);
		else
			tcp_step_await(step, TCP_TROUBLE_RST);
		return;
	}
	if ((t->flags & TCP_SYN) != 0) {
		/* Simultaneous open: the peer's SYN again, now with the ACK of ours.  Any other is a duplicate. */
		if (e->state == TCP_STATE_SYN_RECEIVED && (t->flags & TCP_ACK) != 0 && t->seq + 1 == e->rcv_nxt)
			(void)received_ack(step);
		return;
	}
	if ((t->flags & TCP_ACK) == 0)
		return;
	restart_time_wait(step);
	if (!in_window(step, length) || !received_ack(step))
		return;
	received_space(step);
}

void
tcp_judge_received(struct tcp_step *step)
{
	if ((step->t->flags & (TCP_SYN | TCP_FIN)) == (TCP_SYN | TCP_FIN))
		return;
	switch (step->e->state) {
	case TCP_STATE_CLOSED:
		return;
	case TCP_STATE_NONE:
		received_unknown(step);
		return;
	case TCP_STATE_SYN_SENT:
		received_in_syn_sent(step);
		return;
	default:
		received_synchronized(step);
		return;
	}
}
