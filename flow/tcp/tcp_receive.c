/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effect of a segment on the endpoint that receives it: RFC 9293 section 3.10.7 in its order (sequence, RST, SYN, ACK,
 * data, FIN), with the RST rules of RFC 5961 as implemented by Linux.  The capture may have missed segments of the
 * endpoint, so an endpoint that was never captured sending accepts everything.  The endpoint's own next segment
 * corrects a wrong acceptance.
 */
#include "flow/tcp/tcp_loss.h"
#include "flow/tcp/tcp_segment.h"

/* The largest possible window (RFC 7323), used if the endpoint's window scale was not captured. */
#define WIDEST_WINDOW ((uint32_t)0xffff << 14)

static bool
was_seen(const struct tcp_end *e)
{
	return e->segments != 0;
}

/* Linux's tcp_sequence(): the segment ends at or after the last acknowledgement, and begins within the window
 * advertised with it. */
static bool
in_window(const struct tcp_step *step, uint32_t length)
{
	const struct tcp_end *e = step->e;
	uint32_t seq = step->t->seq;
	uint32_t window = (e->flags & step->peer->flags & TCP_END_ISS) != 0 ? e->wnd : WIDEST_WINDOW;

	if (!was_seen(e))
		return true;
	/* If the window closed behind received data, a segment at RCV.NXT is still acceptable. */
	return !seq_before(seq + length, e->acked) && !seq_before(seq_max(e->acked + window, e->rcv_nxt), seq);
}

/* --- before its SYN is answered --- */

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

/* No segment of the endpoint itself was captured: its numbers follow from the peer's, but it has no state until it is
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

/* Whether the endpoint accepts a RST at once; a RST that is merely in the window is answered with a challenge ACK. */
static bool
reset_matches(const struct tcp_step *step)
{
	const struct tcp_end *e = step->e;
	uint32_t seq = step->t->seq, edge;

	if (!was_seen(e) || seq == e->rcv_nxt)
		return true;
	switch (e->state) {
	case TCP_STATE_SYN_RECEIVED:
		/* A request socket waiting for its ACK accepts any RST in the window (Linux tcp_check_req). */
		if ((e->flags & TCP_END_ACTIVE) == 0 && in_window(step, 0) && !seq_before(seq, e->rcv_nxt))
			return true;
		break;
	case TCP_STATE_CLOSE_WAIT:
	case TCP_STATE_LAST_ACK:
	case TCP_STATE_CLOSING:
		/* The FIN's own sequence number: some senders do not count their FIN (Linux tcp_reset_check). */
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

/* Whether an earlier FIN takes effect before this segment.  Not if both arrive as one segment, because the ACK of a
 * segment is processed before its FIN, nor if the segment repeats the FIN, which was then lost. */
static bool
is_behind_fin(const struct tcp_step *step)
{
	return (step->e->trouble & TCP_TROUBLE_FIN) != 0 && (step->t->flags & TCP_FIN) == 0 &&
	       !tcp_loss_melts_with_fin(step);
}

/* Processes the ACK number.  False if it makes the segment unacceptable. */
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
		/* Simultaneous open: the peer repeats its SYN, now with an ACK of this endpoint's SYN.  Any other SYN
		 * is a duplicate. */
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
