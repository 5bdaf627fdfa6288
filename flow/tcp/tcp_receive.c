/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effect of a segment on the endpoint that receives it: RFC 9293 section 3.10.7 in its order (sequence, RST, SYN, ACK,
 * data, FIN), with the RST rules of RFC 5961 as implemented by Linux.  The capture may have missed segments of the
 * endpoint, so an endpoint that was never captured sending accepts everything.  The endpoint's own next segment
 * corrects a wrong acceptance.
 */
#include "flow/tcp/tcp_check.h"
#include "flow/tcp/tcp_internal.h"

/* The largest possible window (RFC 7323), used if the endpoint's window scale was not captured. */
#define TCP_WINDOW_SCALED_MAX ((uint32_t)0xffff << 14)

static bool
tcp_endpoint_has_sent(const struct tcp_endpoint *e)
{
	return e->segments_sent != 0;
}

/* Linux's tcp_sequence(): the segment ends at or after the last acknowledgement, and begins within the window
 * advertised with it. */
static bool
tcp_seq_in_window(const struct tcp_segment_ctx *ctx, uint32_t length)
{
	const struct tcp_endpoint *e = ctx->ep;
	uint32_t seq = ctx->header->seq;
	uint32_t window = (e->flags & ctx->peer->flags & TCP_EP_ISS_KNOWN) != 0 ? e->wnd : TCP_WINDOW_SCALED_MAX;

	if (!tcp_endpoint_has_sent(e))
		return true;
	/* If the window closed after received data, a segment at RCV.NXT is still acceptable. */
	return !tcp_seq_before(seq + length, e->last_ack_sent) &&
	       !tcp_seq_before(tcp_seq_max(e->last_ack_sent + window, e->rcv_nxt), seq);
}

/* --- before its SYN is answered --- */

static void
tcp_accept_syn(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;

	e->rcv_nxt = t->seq + 1;
	e->last_ack_sent = t->seq;
	if ((e->flags & TCP_EP_WSCALE_OFFERED) != 0)
		e->wscale = (t->options & TCP_OPTION_WSCALE) == 0 ?
				    0u :
				    flow_cold_wscale(flow_cold(ctx->table, ctx->flow), ctx->endpoint) & 15u;
}

static void
tcp_received_in_syn_sent(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	bool acks = (t->flags & TCP_ACK) != 0;

	if ((t->flags & TCP_RST) != 0) {
		tcp_report_event(ctx, EVENT_TCP_CONNECT_REFUSED);
		tcp_apply_input(ctx, TCP_INPUT_RECV_RST);
		return;
	}
	if ((t->flags & TCP_SYN) == 0)
		return;
	tcp_accept_syn(ctx);
	if (!acks) {
		tcp_apply_input(ctx, TCP_INPUT_RECV_SYN);
		return;
	}
	e->una = t->ack;
	record_count_round_trip(ctx->table, ctx->flow, 1 - ctx->endpoint, tcp_rtt_on_ack(e, ctx->us));
	e->slow_reasons |= TCP_SLOW_SYN_ACK_DEFERRED;
	tcp_defer_input(ctx, TCP_SLOW_SYN_ACK_DEFERRED);
}

/* The endpoint has accepted the SYN,ACK although its ACK was not captured: its peer goes on. */
static void
tcp_accept_deferred_syn_ack(struct tcp_segment_ctx *ctx)
{
	tcp_report_event(ctx, EVENT_TCP_CONNECT_ESTABLISHED);
	tcp_apply_input(ctx, TCP_INPUT_RECV_SYN_ACK);
}

/* No segment of the endpoint itself was captured: what its peer acknowledges is its place in the stream. */
static void
tcp_move_to_acknowledged(struct tcp_endpoint *e, uint32_t ack)
{
	int64_t offset = tcp_stream_position(e, ack);

	if (offset > (int64_t)e->bytes)
		e->bytes = (uint64_t)offset;
}

/* No segment of the endpoint itself was captured: its numbers follow from the peer's, but it has no state until it is
 * proved. */
static void
tcp_received_in_none(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;

	if ((t->flags & TCP_RST) != 0)
		return;
	if ((t->flags & TCP_ACK) != 0) {
		tcp_set_stream_base(e, t->ack);
		tcp_move_to_acknowledged(e, t->ack);
	}
	if ((t->flags & TCP_SYN) != 0) {
		e->rcv_nxt = t->seq + 1;
		e->last_ack_sent = t->seq;
		return;
	}
	if (ctx->peer->segments_sent == 1)
		e->last_ack_sent = e->rcv_nxt = t->seq;
	if (!tcp_seq_before(e->rcv_nxt, t->seq))
		e->rcv_nxt = tcp_seq_max(e->rcv_nxt, t->seq + ctx->payload_len);
	if ((t->flags & TCP_ACK) == 0 || ctx->payload_len == 0 || ctx->peer->state == TCP_STATE_SYN_RECEIVED)
		return;
	e->una = e->nxt = t->ack;
	e->flags |= TCP_EP_SEQ_KNOWN;
	tcp_apply_input(ctx, TCP_INPUT_RECV_DATA);
}

/* --- ACK, data, FIN --- */

static void
tcp_restart_time_wait(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;

	if (e->state != TCP_STATE_TIME_WAIT || ctx->changed)
		return;
	e->wait_until = deadline_add(ctx->now, flow_table_limits(ctx->table)->tcp_time_wait_ns);
	tcp_flow_reclassify(ctx->table, ctx->flow, ctx->now);
}

/* Whether an earlier FIN takes effect before this segment.  Not if both arrive as one segment, because the ACK of a
 * segment is processed before its FIN, nor if the segment repeats the FIN, which was then lost. */
static bool
tcp_ack_follows_fin(const struct tcp_segment_ctx *ctx)
{
	return (ctx->ep->slow_reasons & TCP_SLOW_FIN_DEFERRED) != 0 && (ctx->header->flags & TCP_FIN) == 0 &&
	       !tcp_loss_coalesces_with_fin(ctx);
}

static void
tcp_received_ack_of_syn(struct tcp_segment_ctx *ctx)
{
	if (tcp_defer_ack(ctx))
		return;
	tcp_report_event(ctx, (ctx->ep->flags & TCP_EP_ACTIVE_OPEN) != 0 ? EVENT_TCP_CONNECT_ESTABLISHED :
								     EVENT_TCP_ACCEPT_ESTABLISHED);
	record_complete_handshake(ctx->table, ctx->flow, ctx->endpoint, ctx->now);
	tcp_apply_input(ctx, TCP_INPUT_RECV_ACK_OF_SYN);
}

/* Processes the ACK number.  False if it makes the segment unacceptable. */
static bool
tcp_received_ack(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;
	uint32_t ack = ctx->header->ack, una = e->una;

	if (ack == e->nxt + 1 && e->fin_unproven)
		tcp_prove_fin(ctx);
	if (!tcp_endpoint_has_sent(e)) {
		e->nxt = tcp_seq_max(e->nxt, ack);
		tcp_move_to_acknowledged(e, ack);
	} else if (tcp_seq_before(e->nxt, ack)) {
		if (tcp_ack_is_deferred(e)) /* data that were not captured: it has a connection */
			tcp_accept_deferred_ack(ctx);
		return false;
	}
	if (e->state == TCP_STATE_SYN_RECEIVED && !tcp_seq_in_ack_range(e->iss, ack, e->nxt))
		return false;
	/* Mid-stream: the first ACK captured shows what is outstanding. */
	if ((e->flags & TCP_EP_ISS_KNOWN) == 0 && ctx->peer->segments_sent == 1 && una - ack < TCP_WINDOW_MAX)
		e->una = una = ack;
	if (tcp_seq_before(una, ack)) {
		e->una = ack;
		record_count_round_trip(ctx->table, ctx->flow, 1 - ctx->endpoint, tcp_rtt_on_ack(e, ctx->us));
	}
	if (e->state == TCP_STATE_SYN_RECEIVED && !tcp_ack_is_deferred(e))
		tcp_received_ack_of_syn(ctx);
	if (e->state != TCP_STATE_TIME_WAIT && !tcp_ack_is_deferred(e))
		tcp_loss_on_ack(ctx, una);
	if (tcp_endpoint_fin_is_acked(e) && !tcp_ack_follows_fin(ctx) && !tcp_fin_ack_is_deferred(e)) {
		if (e->state == TCP_STATE_FIN_WAIT_1 && tcp_loss_data_is_unanswered(ctx))
			tcp_defer_input(ctx, TCP_SLOW_FIN_ACK_DEFERRED);
		else
			tcp_apply_input(ctx, TCP_INPUT_RECV_ACK_OF_FIN);
	}
	return true;
}

static void
tcp_received_sequence_space(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	uint32_t end = t->seq + ctx->payload_len;

	/* The peer continues after bytes that the endpoint has acknowledged, but that were not captured. */
	if (tcp_seq_before(e->rcv_nxt, t->seq) &&
	    tcp_seq_is_unsent_ack(ctx->table, ctx->flow, ctx->endpoint, t->seq))
		e->rcv_nxt = e->last_ack_sent = t->seq;
	if (tcp_seq_before(e->rcv_nxt, t->seq) || tcp_seq_before(end, e->rcv_nxt))
		return;
	/* A closed window accepts no byte unless the endpoint acknowledges it. */
	if (ctx->payload_len != 0 && e->wnd == 0 && t->seq == e->last_ack_sent && tcp_endpoint_has_sent(e))
		return;
	e->rcv_nxt = end;
	if ((t->flags & TCP_FIN) == 0)
		return;
	e->rcv_nxt++;
	if (tcp_ack_is_deferred(e))
		e->slow_reasons |= TCP_SLOW_FIN_DEFERRED; /* it waits with the ACK */
	else
		tcp_defer_input(ctx, TCP_SLOW_FIN_DEFERRED);
	if ((e->slow_reasons & TCP_SLOW_FIN_DEFERRED) != 0 && !tcp_endpoint_fin_is_acked(e) &&
	    (t->options & TCP_OPTION_TIMESTAMPS) != 0)
		tcp_loss_set_deferred_fin(ctx->table, ctx->flow, ctx->endpoint, t->tsval, t->tsecr);
}

/* The endpoint was captured acknowledging exactly what its peer has sent by now, so it has received that; a FIN with
 * this ACK number is proved. */
static __attribute__((noinline)) void
tcp_received_after_its_ack(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;

	e->rcv_nxt = e->last_ack_sent = ctx->peer->nxt;
	if (tcp_fin_ack_is_deferred(e)) { /* no data has reset it: it has acknowledged them */
		e->slow_reasons &= (uint8_t)~TCP_SLOW_FIN_ACK_DEFERRED;
		tcp_apply_input(ctx, TCP_INPUT_RECV_ACK_OF_FIN);
	}
	if ((ctx->peer->flags & TCP_EP_FIN_SENT) != 0) {
		tcp_apply_input(ctx, TCP_INPUT_RECV_FIN);
		e->slow_reasons &= (uint8_t)~TCP_SLOW_FIN_DEFERRED;
		tcp_loss_clear_deferred_fin(ctx->table, ctx->flow, ctx->endpoint);
	}
	if (e->fin_unproven)
		tcp_prove_fin(ctx);
}

static void
tcp_received_rst_after_ack(struct tcp_segment_ctx *ctx)
{
	if (tcp_deferred_ack_counts(ctx->table, ctx->flow, ctx->endpoint, ctx->now))
		tcp_accept_deferred_ack(ctx);
	else
		tcp_drop_deferred_ack(ctx->table, ctx->flow, ctx->endpoint);
}

static void
tcp_received_synchronized(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	uint32_t length = ctx->payload_len + ((t->flags & TCP_FIN) != 0);

	if ((t->flags & TCP_RST) != 0) {
		if (tcp_ack_is_deferred(e))
			tcp_received_rst_after_ack(ctx);
		if (e->state == TCP_STATE_SYN_RECEIVED)
			tcp_apply_input(ctx, TCP_INPUT_RECV_RST);
		else
			tcp_defer_input(ctx, TCP_SLOW_RST_DEFERRED);
		return;
	}
	if ((t->flags & TCP_SYN) != 0) {
		/* Simultaneous open: the peer repeats its SYN, now with an ACK of this endpoint's SYN.  Any other SYN
		 * is a duplicate. */
		if (e->state == TCP_STATE_SYN_RECEIVED && (t->flags & TCP_ACK) != 0 && t->seq + 1 == e->rcv_nxt)
			(void)tcp_received_ack(ctx);
		return;
	}
	if ((t->flags & TCP_ACK) == 0)
		return;
	tcp_restart_time_wait(ctx);
	if (!tcp_seq_in_window(ctx, length) || !tcp_received_ack(ctx))
		return;
	if ((e->state == TCP_STATE_FIN_WAIT_1 || (e->state == TCP_STATE_ESTABLISHED && e->fin_unproven)) &&
	    !tcp_endpoint_fin_is_acked(e) && ctx->payload_len != 0 &&
	    tcp_seq_before(e->rcv_nxt, t->seq + ctx->payload_len))
		tcp_loss_set_unanswered_data(ctx);
	tcp_received_sequence_space(ctx);
}

bool
tcp_resync_is_pending(struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	const struct tcp_loss_pair *pair;

	if ((flow->tcp[1 - endpoint].slow_reasons & TCP_SLOW_LOSS) == 0)
		return false;
	pair = loss_pool_find(flow_table_tcp_pools(table), flow_cold(table, flow));
	return pair != NULL && pair->end[1 - endpoint].resynced;
}

bool
tcp_resync_numbers(struct tcp_endpoint *e, const struct tcp_endpoint *peer, const struct tcp_layer *t)
{
	if (tcp_state_is_synchronized((enum tcp_state)e->state) && peer->una == t->seq && t->seq != e->rcv_nxt) {
		e->rcv_nxt = e->last_ack_sent = t->seq;
		e->resyncs = (e->resyncs + 1u) & 3u;
	}
	if (!tcp_seq_before(e->nxt, t->ack))
		return false;
	e->una = e->nxt = t->ack;
	return true;
}

/* Takes the numbers of the peer anew if they were taken anew when the peer sent the segment; the peer then has
 * TCP_SLOW_LOSS. */
static __attribute__((noinline)) void
tcp_resync_received(struct tcp_segment_ctx *ctx)
{
	if (!tcp_resync_is_pending(ctx->table, ctx->flow, ctx->endpoint))
		return;
	loss_pool_acquire(ctx->table, ctx->flow)->end[1 - ctx->endpoint].resynced = false;
	if (tcp_resync_numbers(ctx->ep, ctx->peer, ctx->header))
		tcp_loss_resync(ctx, ctx->header->ack);
}

/* The reason why the endpoint ignores the segment, which is not the one that it expects. */
static __attribute__((noinline)) enum anomaly
tcp_received_check(struct tcp_segment_ctx *ctx)
{
	struct tcp_arrival arrival = {
	    .table = ctx->table,
	    .flow = ctx->flow,
	    .ep = ctx->ep,
	    .sender = ctx->peer,
	    .header = ctx->header,
	    .payload_len = ctx->payload_len,
	    .endpoint = ctx->endpoint,
	};
	bool resync;
	enum anomaly anomaly = tcp_check_arrival(&arrival, &resync);

	if (anomaly == ANOMALY_TCP_ACK_IGNORED || anomaly == ANOMALY_TCP_OUTSIDE_WINDOW)
		tcp_store_ignored(ctx);
	return anomaly;
}

/* Whether the segment ends above RCV.NXT, or is empty there: RFC 7323 section 5.3 rejects every other one (R2) before
 * its timestamp counts (R3).  Also while RCV.NXT is not acknowledged yet, because a TS.Recent that is too new rejects
 * segments that are in order. */
static bool
tcp_segment_is_current(const struct tcp_endpoint *e, const struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	uint32_t length = ctx->payload_len + ((t->flags & TCP_SYN) != 0) + ((t->flags & TCP_FIN) != 0);

	return length == 0 ? !tcp_seq_before(t->seq, e->rcv_nxt) : tcp_seq_before(e->rcv_nxt, t->seq + length);
}

/* The timestamp of an acceptable segment at or below the last ACK sent (RFC 7323 section 4.3).  The first SYN begins
 * anew; one again does not. */
static void
tcp_save_timestamp(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	bool known = tcp_acceptance_is_known(e);

	if ((t->options & TCP_OPTION_TIMESTAMPS) == 0 || (t->flags & TCP_RST) != 0 || t->tsval == 0)
		return;
	if (known ? tcp_segment_is_current(e, ctx) && !tcp_seq_before(e->last_ack_sent, t->seq) &&
			(e->ts_recent == 0 || !tcp_seq_before(t->tsval, e->ts_recent)) :
		    (t->flags & TCP_SYN) != 0)
		e->ts_recent = t->tsval;
}

static void
tcp_process_accepted(struct tcp_segment_ctx *ctx)
{
	tcp_save_timestamp(ctx);
	if (tcp_syn_ack_is_deferred(ctx->ep) && (ctx->header->flags & TCP_SYN) == 0)
		tcp_accept_deferred_syn_ack(ctx);
	if ((ctx->header->flags & (TCP_SYN | TCP_FIN | TCP_ACK)) == (TCP_SYN | TCP_FIN))
		return;
	switch (ctx->ep->state) {
	case TCP_STATE_CLOSED:
		return;
	case TCP_STATE_NONE:
		tcp_received_in_none(ctx);
		return;
	case TCP_STATE_SYN_SENT:
		tcp_received_in_syn_sent(ctx);
		return;
	default:
		tcp_received_synchronized(ctx);
		break;
	}
	if ((ctx->header->flags & (TCP_SYN | TCP_RST | TCP_ACK)) == TCP_ACK && !tcp_ack_is_deferred(ctx->ep) &&
	    (ctx->payload_len != 0 || (ctx->header->flags & TCP_FIN) != 0) &&
	    tcp_ack_was_early(ctx->table, ctx->flow, ctx->endpoint))
		tcp_received_after_its_ack(ctx);
}

enum anomaly
tcp_process_received(struct tcp_segment_ctx *ctx)
{
	enum anomaly anomaly = ANOMALY_NONE;

	if ((ctx->peer->slow_reasons & TCP_SLOW_LOSS) != 0)
		tcp_resync_received(ctx);
	if (!tcp_arrival_is_expected(ctx->ep, ctx->header))
		anomaly = tcp_received_check(ctx);
	if (anomaly == ANOMALY_NONE)
		tcp_process_accepted(ctx);
	return anomaly;
}
