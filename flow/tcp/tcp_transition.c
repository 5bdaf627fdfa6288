/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments in order with which a connection opens and closes: what tcp_send.c and tcp_receive.c do with them, without
 * their tests for everything else.
 */

#include "flow/tcp/tcp_check.h"
#include "flow/tcp/tcp_fastpath.h"
#include "flow/tcp/tcp_internal.h"

/* A segment with the endpoints that send and receive it. */
struct tcp_transition_step {
	struct flow_table *table;
	struct flow *flow;
	struct tcp_endpoint *from, *to;
	const struct tcp_transition_segment *s;
	unsigned sender;
	uint64_t now;
	uint32_t us; /* `now` in microseconds modulo 2^32 */
};

/* State and slow reasons of both endpoints, for one comparison. */
#define TCP_TRANSITION_STATES(from, from_slow, to) \
	((uint32_t)(from) << 16 | (uint32_t)(from_slow) << 8 | (uint32_t)(to))

/* Whether the segment is one of those that change a connection in these states. */
static bool
tcp_transition_states_match(const struct tcp_endpoint *from, const struct tcp_endpoint *to,
			    const struct tcp_transition_segment *s)
{
	if (to->slow_reasons != 0)
		return tcp_ack_is_deferred(to) && to->slow_reasons == TCP_SLOW_ACK_DEFERRED &&
		       tcp_endpoint_is_fast(from) && !s->fin;
	switch (TCP_TRANSITION_STATES(from->state, from->slow_reasons, to->state)) {
	case TCP_TRANSITION_STATES(TCP_STATE_SYN_SENT, TCP_SLOW_SYN_ACK_DEFERRED, TCP_STATE_SYN_RECEIVED):
		return s->ack == to->nxt && !s->fin && (to->flags & TCP_EP_ACTIVE_OPEN) == 0 &&
		       to->last_ack_sent == from->iss + 1;
	case TCP_TRANSITION_STATES(TCP_STATE_SYN_RECEIVED, TCP_SLOW_ACK_DEFERRED, TCP_STATE_ESTABLISHED):
		return !s->fin && (s->len != 0 || s->ack != from->last_ack_sent);
	case TCP_TRANSITION_STATES(TCP_STATE_ESTABLISHED, 0, TCP_STATE_ESTABLISHED):
	case TCP_TRANSITION_STATES(TCP_STATE_CLOSE_WAIT, 0, TCP_STATE_FIN_WAIT_2):
		return s->fin;
	case TCP_TRANSITION_STATES(TCP_STATE_ESTABLISHED, TCP_SLOW_FIN_DEFERRED, TCP_STATE_FIN_WAIT_1):
		return s->ack == to->nxt;
	case TCP_TRANSITION_STATES(TCP_STATE_FIN_WAIT_2, TCP_SLOW_FIN_DEFERRED, TCP_STATE_LAST_ACK):
		return s->ack == to->nxt && s->len == 0 && !s->fin;
	default:
		return false;
	}
}

bool
tcp_transition_is_possible(const struct flow *flow, unsigned sender, bool fin)
{
	const struct tcp_endpoint *from = &flow->tcp[sender], *to = &flow->tcp[1 - sender];
	const struct tcp_transition_segment s = {.ack = to->nxt, .fin = fin};

	return tcp_transition_states_match(from, to, &s);
}

/* Whether the segment is in order and in the window, nothing about it contradicts the capture, and no exception applies
 * to its endpoints. */
static bool
tcp_transition_segment_fits(const struct tcp_transition_step *step)
{
	const struct tcp_endpoint *from = step->from, *to = step->to;
	const struct tcp_transition_segment *s = step->s;
	const struct tcp_fast_segment numbers = {.seq = s->seq, .ack = s->ack, .len = s->len, .tsval = s->tsval};

	return tcp_fast_may_send(from, &numbers) && s->seq == to->rcv_nxt && s->ack - to->una <= to->nxt - to->una &&
	       tcp_fast_timestamp_is_new(to, &numbers) && tcp_timestamps_are_valid(step->flow, step->now) &&
	       to->segments_sent != 0 && (s->len == 0 || to->wnd != 0) &&
	       s->seq + s->len - from->una < TCP_WINDOW_MAX && (from->flags & to->flags & TCP_EP_ISS_KNOWN) != 0 &&
	       (!s->fin || ((from->flags & TCP_EP_FIN_SENT) == 0 && flow_table_limits(step->table)->tcp_reply_ns != 0));
}

/* Whether `to` is in FIN_WAIT_1 and may have answered data with a RST (tcp_loss_set_unanswered_data()). */
static bool
tcp_transition_data_is_unanswered(const struct tcp_transition_step *step)
{
	const struct tcp_loss_pair *pair;

	if (step->to->state != TCP_STATE_FIN_WAIT_1)
		return false;
	pair = loss_pool_find(flow_table_tcp_pools(step->table), flow_cold(step->table, step->flow));
	return pair != NULL && pair->end[1 - step->sender].fin_wait_segments != 0;
}

static void
tcp_transition_change(const struct tcp_transition_step *step, unsigned endpoint, enum tcp_input input)
{
	tcp_change_state(step->table, step->flow, endpoint, input, step->now, NULL);
}

static void
tcp_transition_send_sequence_space(const struct tcp_transition_step *step)
{
	const struct tcp_transition_segment *s = step->s;
	struct tcp_endpoint *e = step->from;
	uint32_t end_seq = s->seq + s->len + s->fin;

	send_log_append(flow_table_tcp_pools(step->table), e,
			&(struct send_log_record){s->seq, end_seq, step->us, s->stamp, false});
	e->nxt = end_seq;
	e->bytes += s->len;
	tcp_rtt_start_if_idle(e, s->seq, step->us);
	if (!s->fin)
		return;
	e->flags |= TCP_EP_FIN_SENT;
	tcp_transition_change(step, step->sender, TCP_INPUT_SEND_FIN);
}

static void
tcp_transition_apply_sent(const struct tcp_transition_step *step)
{
	const struct tcp_transition_segment *s = step->s;
	struct tcp_endpoint *e = step->from;

	e->segments_sent++;
	e->flags &= (uint8_t)~TCP_EP_LAST_RETRANSMITTED;
	e->last_ack_sent = s->ack;
	e->wnd = (uint32_t)s->window << e->wscale;
	if (e->state == TCP_STATE_SYN_SENT) {
		e->rcv_nxt = s->ack;
		tcp_transition_change(step, step->sender, TCP_INPUT_SEND_ACK);
	} else if (e->state == TCP_STATE_SYN_RECEIVED) {
		tcp_transition_change(step, step->sender, TCP_INPUT_RECV_ACK_OF_SYN);
	} else if (e->slow_reasons != 0) {
		tcp_transition_change(step, step->sender, TCP_INPUT_RECV_FIN);
		e->slow_reasons = 0;
		tcp_loss_clear_deferred_fin(step->table, step->flow, step->sender);
	}
	if (s->len != 0 || s->fin)
		tcp_transition_send_sequence_space(step);
}

static void
tcp_transition_receive_fin(const struct tcp_transition_step *step)
{
	const struct tcp_transition_segment *s = step->s;

	step->to->rcv_nxt++;
	tcp_defer(step->table, step->flow, 1 - step->sender, TCP_SLOW_FIN_DEFERRED, step->now);
	if (s->timestamps && !tcp_endpoint_fin_is_acked(step->to))
		tcp_loss_set_deferred_fin(step->table, step->flow, 1 - step->sender, s->tsval, s->tsecr);
}

static void
tcp_transition_apply_received(const struct tcp_transition_step *step)
{
	const struct tcp_transition_segment *s = step->s;
	struct tcp_endpoint *e = step->to;

	if (s->tsval != 0 && !tcp_seq_before(e->last_ack_sent, s->seq))
		e->ts_recent = s->tsval;
	if (s->ack != e->una) {
		e->una = s->ack;
		tcp_rtt_on_ack(e, step->us);
	}
	if (e->state == TCP_STATE_SYN_RECEIVED && e->slow_reasons == 0)
		tcp_defer(step->table, step->flow, 1 - step->sender, TCP_SLOW_ACK_DEFERRED, step->now);
	else if (tcp_endpoint_fin_is_acked(e))
		tcp_transition_change(step, 1 - step->sender, TCP_INPUT_RECV_ACK_OF_FIN);
	e->rcv_nxt += s->len;
	if (s->fin)
		tcp_transition_receive_fin(step);
}

/* Whether `to` was captured acknowledging the FIN before (tcp_ack_was_early()). */
static bool
tcp_transition_is_late(const struct tcp_transition_step *step)
{
	uint32_t ack;

	return step->s->fin && tcp_ack_is_early(step->table, step->flow, 1 - step->sender, &ack);
}

bool
tcp_apply_transition(struct flow_table *table, struct flow *flow, unsigned sender,
		     const struct tcp_transition_segment *s, uint64_t now)
{
	struct tcp_transition_step step = {
	    .table = table,
	    .flow = flow,
	    .from = tcp_endpoint_of(flow, sender),
	    .to = tcp_endpoint_of(flow, 1 - sender),
	    .s = s,
	    .sender = sender,
	    .now = now,
	    .us = (uint32_t)(now / 1000),
	};
	bool unchanged;

	if (!tcp_transition_states_match(step.from, step.to, s) || !tcp_transition_segment_fits(&step) ||
	    tcp_transition_data_is_unanswered(&step) || tcp_transition_is_late(&step))
		return false;
	flow->last_seen = now;
	unchanged = tcp_ack_is_deferred(step.to);
	tcp_transition_apply_sent(&step);
	tcp_transition_apply_received(&step);
	if (!unchanged)
		tcp_flow_reclassify(table, flow, now);
	return true;
}
