/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effect of a segment on the endpoint that sends it.  An endpoint's own segments are the strongest evidence: it has
 * received what it acknowledges, whatever the capture shows.
 */
#include "flow/tcp/tcp_loss.h"
#include "flow/tcp/tcp_segment.h"

/* A repetition of the last byte this soon is a retransmission, not a keepalive (the shortest interval that a Linux
 * socket accepts is 1 s). */
#define LEAST_KEEPALIVE_US 900000u

/* If segments were not captured: how far beyond the ISN a sequence number still belongs to the connection. */
#define UNSEEN_MAX (1u << 20)

#define OUTSTANDING_MAX (1u << 30)

/* --- SYN and SYN,ACK --- */

static void
note_offers(struct tcp_step *step)
{
	struct flow_cold *cold = flow_cold(step->table, step->flow);
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	uint8_t flags = e->flags & (uint8_t)~(TCP_END_WSCALE | TCP_END_SACK), shift = 0;

	if ((t->options & TCP_OPTION_WSCALE) != 0) {
		flags |= TCP_END_WSCALE;
		shift = t->wscale;
	}
	if ((t->options & TCP_OPTION_SACK_PERMITTED) != 0)
		flags |= TCP_END_SACK;
	e->flags = flags;
	/* A SYN,ACK carries the option only as an answer (RFC 7323 section 2.2), so both ends have offered scaling. */
	e->wscale = (t->flags & TCP_ACK) != 0 ? shift : 0;
	cold_offer(cold, step->end, shift, (t->options & TCP_OPTION_TIMESTAMPS) != 0);
	cold->mss[step->end] = (t->options & TCP_OPTION_MSS) != 0 ? t->mss : 0;
}

static void
begin_sequence(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;

	e->iss = e->una = t->seq;
	e->nxt = t->seq + 1 + step->len;
	e->bytes = step->len;
	e->flags |= TCP_END_ISS | TCP_END_SENT;
	e->flags &= (uint8_t) ~(TCP_END_FIN | TCP_END_RTT_TIMED);
	e->sent = 0;
	log_append(flow_table_tcp(step->table), e, t->seq, e->nxt, step->us, false);
	rtt_begin(e, t->seq, step->us);
	note_offers(step);
}

static void
sent_syn(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	bool answers = (t->flags & TCP_ACK) != 0;
	/* A listener without state for its SYN,ACK (SYN cookies, a dropped request) answers the next SYN with another
	 * ISN. */
	bool anew = (e->flags & TCP_END_ISS) == 0 || (t->seq != e->iss && e->state == TCP_STATE_SYN_RECEIVED);

	if (!anew && t->seq != e->iss)
		return;
	if (anew) {
		begin_sequence(step);
	} else if (!answers || e->acked == t->ack) {
		tcp_loss_sent_again(step, t->seq, t->seq + 1 + step->len);
	} else {
		/* Simultaneous open: the repeated SYN, now with an ACK, answers the peer's SYN. */
		e->wscale = (e->flags & TCP_END_WSCALE) != 0 && (step->peer->flags & TCP_END_WSCALE) != 0 ?
				    cold_shift(flow_cold(step->table, step->flow), step->end) :
				    0;
	}
	e->wnd = t->window; /* the window in a SYN is never scaled */
	if (answers) {
		e->rcv_nxt = e->acked = t->ack;
		tcp_step_input(step, INPUT_SEND_SYN_ACK);
		return;
	}
	if (anew) {
		e->flags |= TCP_END_ACTIVE;
		tcp_step_tell(step, EVENT_TCP_CONNECT_REQUEST);
	}
	tcp_step_input(step, INPUT_SEND_SYN);
}

/* The endpoint's ACK covers the peer's FIN, whenever that arrived.  An ACK of its own FIN may have been waiting behind
 * it. */
static void
sent_ack_of_fin(struct tcp_step *step)
{
	const struct tcp_end *peer = step->peer;
	struct tcp_end *e = step->e;

	if ((peer->flags & TCP_END_FIN) == 0 || step->t->ack != peer->nxt)
		return;
	tcp_step_input(step, INPUT_RECV_FIN);
	e->trouble &= (uint8_t)~TCP_TROUBLE_FIN;
	tcp_loss_fin_is_over(step->table, step->flow, step->end);
	if (tcp_fin_is_acked(e))
		tcp_step_input(step, INPUT_RECV_ACK_OF_FIN);
}

/* --- RST --- */

/*
 * In a synchronized state a RST out ends the connection: there is no other reason to send one.  Before that a RST may
 * answer a segment of another connection; it then has the numbers of that segment, not of this connection (RFC 9293
 * 3.10.7.3, 3.10.7.4).
 */
static void
sent_reset(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	const struct tcp_end *peer = step->peer;

	switch (e->state) {
	case TCP_STATE_NONE:
		if ((t->flags & TCP_ACK) != 0 && (peer->flags & (TCP_END_ACTIVE | TCP_END_ISS)) != 0 &&
		    (peer->state == TCP_STATE_SYN_SENT || peer->state == TCP_STATE_CLOSED) &&
		    seq_acks(peer->iss, t->ack, peer->nxt))
			tcp_step_tell(step, EVENT_TCP_ACCEPT_REFUSED);
		return;
	case TCP_STATE_SYN_SENT:
	case TCP_STATE_SYN_RECEIVED:
		if (seq_before(t->seq, e->una) || seq_before(e->nxt, t->seq))
			return;
		break;
	default:
		break;
	}
	if ((t->flags & TCP_ACK) != 0)
		sent_ack_of_fin(step);
	tcp_step_input(step, INPUT_SEND_RST);
}

/* --- everything else --- */

/* Takes the sequence numbers of an endpoint from its first segment captured in mid-stream.  False if the segment proves
 * nothing. */
static bool
pick_up(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	const struct tcp_end *peer = step->peer;

	if ((t->flags & TCP_ACK) == 0 || peer->state == TCP_STATE_CLOSED)
		return false;
	/* The peer is in SYN_SENT and this ACK is not for its SYN: a challenge from an old incarnation (RFC 5961
	 * section 4).  A segment with data or FIN whose ACK the peer may have reached in segments that were not
	 * captured belongs to this connection. */
	if (peer->state == TCP_STATE_SYN_SENT && !seq_acks(peer->iss, t->ack, peer->nxt) &&
	    ((step->len == 0 && (t->flags & TCP_FIN) == 0) || !seq_acks(peer->iss, t->ack, peer->iss + UNSEEN_MAX)))
		return false;
	if ((e->flags & TCP_END_SENT) == 0) {
		e->una = e->nxt = t->seq;
		e->flags |= TCP_END_SENT;
	}
	e->rcv_nxt = e->acked = t->ack;
	tcp_step_input(step, INPUT_SEND_ACK);
	return true;
}

/* Applies what the ACK number proves. */
static void
sent_ack(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	const struct tcp_end *peer = step->peer;
	bool unseen = seq_before(e->rcv_nxt, t->ack);

	switch (e->state) {
	case TCP_STATE_SYN_SENT:
		if ((peer->flags & TCP_END_ISS) != 0 && !seq_before(peer->iss, t->ack))
			return;
		e->rcv_nxt = e->acked = t->ack;
		tcp_step_tell(step, EVENT_TCP_CONNECT_ESTABLISHED);
		tcp_step_input(step, INPUT_SEND_ACK);
		break;
	case TCP_STATE_SYN_RECEIVED:
		/* The endpoint has received more than the SYN, which requires that its own SYN was acknowledged; or its
		 * peer is not captured at all. */
		if (unseen || (step->len != 0 && peer->segments == 0)) {
			tcp_step_tell(step, (e->flags & TCP_END_ACTIVE) != 0 ? EVENT_TCP_CONNECT_ESTABLISHED :
									       EVENT_TCP_ACCEPT_ESTABLISHED);
			tcp_step_input(step, INPUT_SEND_OPEN);
		}
		break;
	default:
		break;
	}
	if (unseen)
		e->rcv_nxt = t->ack;
	e->acked = seq_max(e->acked, t->ack);
	sent_ack_of_fin(step);
	/* It has not acknowledged the FIN or RST, so it has not received it: restart the wait. */
	if ((e->trouble & TCP_TROUBLE_WAITS) != 0)
		tcp_step_await(step, e->trouble & TCP_TROUBLE_WAITS);
}

static void
sent_timeout(struct tcp_step *step, enum tcp_timeout timeout)
{
	if (step->quiet)
		return;
	event_add(step->events, EVENT_TCP_TIMEOUT, step->end, step->now)->timeout = timeout;
}

/*
 * Whether the segment is a probe that requests an ACK, not a retransmission: nothing is outstanding, and it sends one
 * byte below SND.NXT or nothing at that place (RFC 9293 3.8.4, Linux tcp_xmit_probe_skb); with a closed window also one
 * byte that the peer must refuse (RFC 9293 3.8.6.1).
 */
static bool
sent_probe(struct tcp_step *step, uint32_t length)
{
	const struct tcp_layer *t = step->t;
	const struct tcp_end *e = step->e, *peer = step->peer;
	bool closed_window = peer->wnd == 0 && peer->segments != 0 && (peer->flags & TCP_END_SENT) != 0;
	struct log_answer last;

	if (!is_synchronized((enum tcp_state)e->state) || e->state == TCP_STATE_TIME_WAIT || length > 1 ||
	    (t->flags & TCP_FIN) != 0)
		return false;
	if (closed_window && length == 1 && t->seq == e->una && (e->nxt == e->una || e->nxt == e->una + 1)) {
		sent_timeout(step, TIMEOUT_PERSIST);
		return e->nxt != e->una; /* the first such byte is new data */
	}
	if (e->una != e->nxt || t->seq != e->nxt - 1)
		return false;
	if (length == 1) {
		last = log_search(flow_table_tcp(step->table), e, t->seq);
		if (last.seen && step->us - last.us < LEAST_KEEPALIVE_US)
			return false;
	}
	sent_timeout(step, closed_window ? TIMEOUT_PERSIST : TIMEOUT_KEEPALIVE);
	return true;
}

/* Sends the sequence space [seq, seq + length), or a bare ACK beyond everything captured so far. */
static void
sent_space(struct tcp_step *step, uint32_t length)
{
	const struct tcp_layer *t = step->t;
	struct tcp_store *store = flow_table_tcp(step->table);
	struct tcp_end *e = step->e;
	uint32_t end = t->seq + length;
	uint32_t fresh = seq_before(e->nxt, end) ? end - seq_max(e->nxt, t->seq) : 0;
	bool fin = (t->flags & TCP_FIN) != 0;

	if (seq_before(e->nxt, t->seq))
		tcp_loss_missed(step, e->nxt, t->seq);
	if (seq_before(t->seq, e->nxt)) {
		enum loss_fill fill = tcp_loss_fill(step, t->seq, end);

		if (fill != LOSS_FILLS_REORDERED)
			tcp_loss_sent_again(step, t->seq, end);
		fresh -= fresh != 0 && fin;
		if (fill != LOSS_FILLS_NOTHING || fresh > step->len)
			fresh = step->len;
		e->bytes += fresh;
	} else if (length != 0) {
		log_append(store, e, t->seq, end, step->us, false);
		rtt_begin(e, t->seq, step->us);
		e->bytes += step->len;
	}
	e->nxt = seq_max(e->nxt, end);
	/* No window is larger (RFC 7323 section 2.3), so everything before was acknowledged without being captured. */
	if (e->nxt - e->una > OUTSTANDING_MAX)
		e->una = t->seq;
	if (fin && end == e->nxt)
		e->flags |= TCP_END_FIN;
}

static void
sent_segment(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	uint32_t length = step->len + ((t->flags & TCP_FIN) != 0);

	if (e->state == TCP_STATE_NONE && !pick_up(step))
		return;
	if ((t->flags & TCP_ACK) != 0) {
		sent_ack(step);
		e->wnd = (uint32_t)t->window << e->wscale;
		tcp_loss_sacked(step);
	}
	if (!sent_probe(step, length) && (length != 0 || seq_before(e->nxt, t->seq)))
		sent_space(step, length);
	if ((e->flags & TCP_END_FIN) != 0)
		tcp_step_input(step, INPUT_SEND_FIN);
}

void
tcp_judge_sent(struct tcp_step *step)
{
	uint8_t flags = step->t->flags;

	if ((flags & TCP_RST) != 0)
		sent_reset(step);
	else if ((flags & (TCP_SYN | TCP_FIN)) == TCP_SYN)
		sent_syn(step);
	else if ((flags & TCP_SYN) == 0)
		sent_segment(step);
}
