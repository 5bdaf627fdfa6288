/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Effect of a segment on the endpoint that sends it.  An endpoint's own segments are the strongest evidence: it has
 * received what it acknowledges, whatever the capture shows.
 */
#include "flow/tcp/tcp_check.h"
#include "flow/tcp/tcp_internal.h"

/* A repetition of the last byte this soon is a retransmission, not a keepalive (the shortest interval that a Linux
 * socket accepts is 1 s). */
#define TCP_KEEPALIVE_MIN_US 900000u

/* If segments were not captured: how far beyond the ISN a sequence number still belongs to the connection. */
#define TCP_UNCAPTURED_BYTES_MAX (1u << 20)

/* --- SYN and SYN,ACK --- */

static void
tcp_save_syn_options(struct tcp_segment_ctx *ctx)
{
	struct flow_cold *cold = flow_cold(ctx->table, ctx->flow);
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	uint8_t flags = e->flags & (uint8_t)~(TCP_EP_WSCALE_OFFERED | TCP_EP_SACK_OFFERED), shift = 0;

	if ((t->options & TCP_OPTION_WSCALE) != 0) {
		flags |= TCP_EP_WSCALE_OFFERED;
		shift = t->wscale;
	}
	if ((t->options & TCP_OPTION_SACK_PERMITTED) != 0)
		flags |= TCP_EP_SACK_OFFERED;
	e->flags = flags;
	/* A SYN,ACK carries the option only as an answer (RFC 7323 section 2.2), so both ends have offered scaling. */
	e->wscale = (t->flags & TCP_ACK) != 0 ? shift & 15u : 0u;
	flow_cold_set_syn_options(cold, ctx->endpoint, shift, (t->options & TCP_OPTION_TIMESTAMPS) != 0);
	cold->syn_mss[ctx->endpoint] = (t->options & TCP_OPTION_MSS) != 0 ? t->mss : 0;
}

static void
tcp_init_send_sequence(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;

	e->iss = e->una = t->seq;
	e->nxt = t->seq + 1 + ctx->payload_len;
	if (e->bytes != 0)
		record_restart_bytes(ctx->table, ctx->flow, ctx->endpoint);
	e->bytes = ctx->payload_len;
	e->flags |= TCP_EP_ISS_KNOWN | TCP_EP_SEQ_KNOWN;
	e->flags &= (uint8_t) ~(TCP_EP_FIN_SENT | TCP_EP_RTT_PENDING);
	e->log_tail = 0;
	tcp_holes_clear(ctx->table, ctx->flow, ctx->endpoint);
	tcp_log_segment(ctx, t->seq, e->nxt, false);
	tcp_rtt_start_if_idle(e, t->seq, ctx->us);
	tcp_save_syn_options(ctx);
}

/* A passive endpoint that was reset answers the SYN that its peer repeats: the listener has made another socket. */
static void
tcp_sent_syn_ack_after_reset(struct tcp_segment_ctx *ctx)
{
	const struct tcp_endpoint *peer = ctx->peer;
	struct tcp_endpoint *e = ctx->ep;

	if (e->state != TCP_STATE_CLOSED || (e->flags & TCP_EP_ACTIVE_OPEN) != 0 ||
	    peer->state != TCP_STATE_SYN_SENT || !tcp_seq_in_ack_range(peer->iss, ctx->header->ack, peer->nxt))
		return;
	e->state = ctx->before.state = TCP_STATE_LISTEN;
	e->flags &= (uint8_t)~TCP_EP_ISS_KNOWN;
}

/* Whether the endpoint may have sent the SYN,ACK before the deferred ACK reached it. */
static bool
tcp_syn_ack_crosses_ack(const struct tcp_segment_ctx *ctx)
{
	uint64_t since_ns = ctx->now - tcp_deferred_ack_time(ctx->table, ctx->flow, ctx->endpoint);

	return tcp_syn_ack_is_answer(ctx) || since_ns / 1000 <= tcp_syn_answer_us(ctx);
}

static void
tcp_sent_syn(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	bool answers = (t->flags & TCP_ACK) != 0;
	bool new_iss;
	uint64_t acked = 0;

	if (answers)
		tcp_sent_syn_ack_after_reset(ctx);
	if (tcp_ack_is_deferred(e)) {
		if (t->seq != e->iss)
			return;
		ctx->changed = true;
		acked = tcp_deferred_ack_time(ctx->table, ctx->flow, ctx->endpoint);
		if (answers && !tcp_syn_ack_crosses_ack(ctx))
			tcp_drop_deferred_ack(ctx->table, ctx->flow, ctx->endpoint);
	}
	/* A listener without state for its SYN,ACK (SYN cookies, a dropped request) answers the next SYN with another
	 * ISN. */
	new_iss = (e->flags & TCP_EP_ISS_KNOWN) == 0 || (t->seq != e->iss && e->state == TCP_STATE_SYN_RECEIVED);
	if (t->seq != e->iss && (!new_iss || tcp_state_is_synchronized((enum tcp_state)e->state)))
		return;
	if (new_iss) {
		tcp_init_send_sequence(ctx);
	} else if (!answers || e->last_ack_sent == t->ack) {
		tcp_loss_on_retransmission(ctx, t->seq, t->seq + 1 + ctx->payload_len);
	} else {
		/* Simultaneous open: the repeated SYN, now with an ACK, answers the peer's SYN. */
		e->wscale = (e->flags & ctx->peer->flags & TCP_EP_WSCALE_OFFERED) == 0 ?
				    0u :
				    flow_cold_wscale(flow_cold(ctx->table, ctx->flow), ctx->endpoint) & 15u;
	}
	/* Late, or forged: its numbers are old. */
	if (answers && tcp_state_is_synchronized((enum tcp_state)e->state) && tcp_seq_before(t->ack, e->rcv_nxt))
		return;
	e->wnd = t->window; /* the window in a SYN is never scaled */
	/* The ACK goes on waiting, until the next SYN,ACK would come. */
	if (tcp_ack_is_deferred(e))
		tcp_defer(ctx->table, ctx->flow, ctx->endpoint, TCP_SLOW_ACK_DEFERRED, acked);
	else if (answers)
		e->rcv_nxt = t->ack;
	if (answers) {
		e->last_ack_sent = t->ack;
		tcp_apply_input(ctx, TCP_INPUT_SEND_SYN_ACK);
		if ((t->flags & TCP_FIN) != 0 && e->nxt == t->seq + 1 + ctx->payload_len) {
			e->nxt++;
			e->flags |= TCP_EP_FIN_SENT;
			tcp_apply_input(ctx, TCP_INPUT_SEND_FIN);
		}
		return;
	}
	if (new_iss) {
		e->flags |= TCP_EP_ACTIVE_OPEN;
		tcp_report_event(ctx, EVENT_TCP_CONNECT_REQUEST);
	}
	tcp_apply_input(ctx, TCP_INPUT_SEND_SYN);
}

/* The endpoint's ACK covers the peer's FIN, whenever that arrived.  An ACK of its own FIN may have come before and
 * takes effect after it. */
static void
tcp_sent_ack_of_fin(struct tcp_segment_ctx *ctx)
{
	const struct tcp_endpoint *peer = ctx->peer;
	struct tcp_endpoint *e = ctx->ep;
	bool unproven = peer->fin_unproven;

	if (((peer->flags & TCP_EP_FIN_SENT) == 0 && !unproven) || ctx->header->ack != peer->nxt + unproven)
		return;
	if (tcp_ack_is_deferred(e))
		tcp_accept_deferred_ack(ctx);
	tcp_apply_input(ctx, TCP_INPUT_RECV_FIN);
	e->slow_reasons &= (uint8_t)~TCP_SLOW_FIN_DEFERRED;
	tcp_loss_clear_deferred_fin(ctx->table, ctx->flow, ctx->endpoint);
	if (tcp_endpoint_fin_is_acked(e))
		tcp_apply_input(ctx, TCP_INPUT_RECV_ACK_OF_FIN);
}

/* The endpoint has sent an answer that shows that no data has reset it: the ACK of its FIN takes effect. */
static void
tcp_sent_apply_fin_ack(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;

	if (!tcp_fin_ack_is_deferred(e))
		return;
	e->slow_reasons &= (uint8_t)~TCP_SLOW_FIN_ACK_DEFERRED;
	if (tcp_endpoint_fin_is_acked(e))
		tcp_apply_input(ctx, TCP_INPUT_RECV_ACK_OF_FIN);
}

/* --- RST --- */

/*
 * In a synchronized state a RST out ends the connection, unless its number shows that it is forged.  Before, a RST may
 * answer a segment of another connection; it then has the numbers of that segment, not of this connection (RFC 9293
 * 3.10.7.3, 3.10.7.4).
 */
static void
tcp_sent_rst(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	const struct tcp_endpoint *peer = ctx->peer;

	switch (e->state) {
	case TCP_STATE_NONE:
		if ((t->flags & TCP_ACK) != 0 && (peer->flags & (TCP_EP_ACTIVE_OPEN | TCP_EP_ISS_KNOWN)) != 0 &&
		    (peer->state == TCP_STATE_SYN_SENT || peer->state == TCP_STATE_CLOSED) &&
		    tcp_seq_in_ack_range(peer->iss, t->ack, peer->nxt))
			tcp_report_event(ctx, EVENT_TCP_ACCEPT_REFUSED);
		return;
	case TCP_STATE_SYN_SENT:
	case TCP_STATE_SYN_RECEIVED:
		/* Its own RST has SND.NXT or the ACK number of a segment that acknowledges its SYN. */
		if (t->seq == e->iss || tcp_seq_before(t->seq, e->una) || tcp_seq_before(e->nxt, t->seq))
			return;
		/* A socket that is closed sends the ACK, too; a listener that resets instead of queueing does not. */
		if (tcp_ack_is_deferred(e) && (t->flags & TCP_ACK) != 0)
			tcp_accept_deferred_ack(ctx);
		else if (tcp_ack_is_deferred(e))
			tcp_drop_deferred_ack(ctx->table, ctx->flow, ctx->endpoint);
		break;
	default:
		if (!tcp_rst_is_genuine(ctx))
			return;
		/* The data that came before the ACK of the FIN has reset it. */
		if (t->seq != e->nxt - 1 && !tcp_loss_rst_answers_data(ctx))
			tcp_sent_apply_fin_ack(ctx);
		break;
	}
	if ((t->flags & TCP_ACK) != 0)
		tcp_sent_ack_of_fin(ctx);
	tcp_apply_input(ctx, TCP_INPUT_SEND_RST);
}

/* --- everything else --- */

/* Takes the sequence numbers of an endpoint from its first segment captured in mid-stream.  False if the segment proves
 * nothing. */
static bool
tcp_pick_up_midstream(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	const struct tcp_endpoint *peer = ctx->peer;

	if ((t->flags & TCP_ACK) == 0 || peer->state == TCP_STATE_CLOSED)
		return false;
	/* The peer is in SYN_SENT and this ACK is not for its SYN: a challenge from an old incarnation (RFC 5961
	 * section 4).  A segment with data or FIN whose ACK the peer may have reached in segments that were not
	 * captured belongs to this connection. */
	if (peer->state == TCP_STATE_SYN_SENT && !tcp_seq_in_ack_range(peer->iss, t->ack, peer->nxt) &&
	    ((ctx->payload_len == 0 && (t->flags & TCP_FIN) == 0) ||
	     !tcp_seq_in_ack_range(peer->iss, t->ack, peer->iss + TCP_UNCAPTURED_BYTES_MAX)))
		return false;
	/* A bare ACK of its SYN: the first segment of a split handshake, whose SYN follows. */
	if (peer->state == TCP_STATE_SYN_SENT && (peer->slow_reasons & TCP_SLOW_SYN_ACK_DEFERRED) == 0 &&
	    ctx->payload_len == 0 && (t->flags & TCP_FIN) == 0)
		return false;
	if ((e->flags & TCP_EP_SEQ_KNOWN) == 0) {
		e->una = e->nxt = t->seq;
		tcp_set_stream_base(e, t->seq);
		/* What the peer has not acknowledged is outstanding, although it was not captured. */
		if (tcp_state_is_synchronized((enum tcp_state)peer->state) &&
		    t->seq - peer->last_ack_sent < TCP_WINDOW_MAX)
			e->una = peer->last_ack_sent;
		e->flags |= TCP_EP_SEQ_KNOWN;
	}
	e->rcv_nxt = e->last_ack_sent = t->ack;
	tcp_apply_input(ctx, TCP_INPUT_SEND_ACK);
	return true;
}

/*
 * The ACK number in `ctx` acknowledges bytes that the peer was not captured sending, although the capture has both
 * SYNs: the segment is forged, or frames are missing.  It proves nothing until the peer continues after these bytes,
 * or until a higher ACK follows while nothing of the peer is captured.
 */
static __attribute__((noinline)) bool
tcp_unsent_ack_is_confirmed(const struct tcp_segment_ctx *ctx)
{
	struct tcp_unsent_ack *last = &loss_pool_acquire(ctx->table, ctx->flow)->end[ctx->endpoint].unsent;
	const struct tcp_endpoint *peer = ctx->peer;
	uint32_t ack = ctx->header->ack;
	bool silent = last->valid && last->segments == peer->segments_sent, confirmed;

	last->refuted |= last->valid && !silent && tcp_seq_before(peer->nxt, last->ack);
	confirmed = silent && !last->refuted && tcp_seq_before(last->ack, ack);
	*last = (struct tcp_unsent_ack){ack, peer->segments_sent, ctx->ep->segments_sent, true, last->refuted};
	return confirmed;
}

/* The ACK number as far as it proves what the endpoint has received. */
static uint32_t
tcp_proved_ack(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;
	uint32_t ack = ctx->header->ack, sent = peer->nxt + peer->fin_unproven;

	if (!tcp_seq_before(sent, ack) || (e->flags & peer->flags & TCP_EP_ISS_KNOWN) == 0 ||
	    tcp_unsent_ack_is_confirmed(ctx))
		return ack;
	return sent;
}

/* Applies what the ACK number proves. */
static void
tcp_sent_ack(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	const struct tcp_endpoint *peer = ctx->peer;
	uint32_t ack = tcp_proved_ack(ctx);
	bool uncaptured = tcp_seq_before(e->rcv_nxt, ack);

	if (tcp_ack_is_deferred(e) && (ctx->payload_len != 0 || (t->flags & TCP_FIN) != 0 || t->sack_count != 0 ||
				       tcp_seq_before(e->last_ack_sent, ack)))
		tcp_accept_deferred_ack(ctx);
	switch (e->state) {
	case TCP_STATE_SYN_SENT:
		if ((peer->flags & TCP_EP_ISS_KNOWN) != 0 && !tcp_seq_before(peer->iss, t->ack))
			return;
		e->rcv_nxt = e->last_ack_sent = ack;
		tcp_report_event(ctx, EVENT_TCP_CONNECT_ESTABLISHED);
		tcp_apply_input(ctx, TCP_INPUT_SEND_ACK);
		break;
	case TCP_STATE_SYN_RECEIVED:
		/* The endpoint has received more than the SYN, which requires that its own SYN was acknowledged; or its
		 * peer is not captured at all. */
		if (uncaptured || (ctx->payload_len != 0 && peer->segments_sent == 0)) {
			tcp_report_event(ctx, (e->flags & TCP_EP_ACTIVE_OPEN) != 0 ? EVENT_TCP_CONNECT_ESTABLISHED :
									       EVENT_TCP_ACCEPT_ESTABLISHED);
			tcp_apply_input(ctx, TCP_INPUT_SEND_SYNCHRONIZED);
		}
		break;
	default:
		break;
	}
	if (uncaptured)
		e->rcv_nxt = ack;
	e->last_ack_sent = tcp_seq_max(e->last_ack_sent, ack);
	tcp_sent_ack_of_fin(ctx);
	/* It has not acknowledged the FIN or RST, so it has not received it: restart the wait. */
	if ((e->slow_reasons & TCP_SLOW_DEFERRED) != 0 && !tcp_ack_is_deferred(e))
		tcp_defer_input(ctx, e->slow_reasons & TCP_SLOW_DEFERRED);
}

static void
tcp_report_timeout(struct tcp_segment_ctx *ctx, enum tcp_timeout timeout)
{
	if (ctx->suppress_events)
		return;
	flow_events_add(ctx->events, EVENT_TCP_TIMEOUT, ctx->endpoint, ctx->now)->timeout = timeout;
}

/* Whether the byte at SND.UNA, which the segment sends alone, probes a closed window.  If more than that byte is
 * outstanding, it was sent in a longer segment: one of a single byte would be sent again like that. */
static bool
tcp_sent_byte_is_probe(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_endpoint *e = ctx->ep;
	struct send_log_result next;

	if (ctx->header->seq != e->una)
		return false;
	if (e->nxt == e->una || e->nxt == e->una + 1)
		return true;
	next = send_log_search(flow_table_tcp_pools(ctx->table), e, e->una + 1);
	return next.found && !tcp_seq_before(e->una, next.first_seq);
}

/* The segment probes a closed window with the byte at SND.UNA.  The peer must refuse it (RFC 9293 3.8.6.1), so its
 * round trip is not timed. */
static void
tcp_sent_window_probe(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;
	bool fresh = e->nxt == e->una;

	tcp_report_timeout(ctx, TIMEOUT_PERSIST);
	tcp_log_segment(ctx, e->una, e->una + 1, !fresh);
	if (!fresh)
		return;
	e->nxt++;
	e->bytes++;
	tcp_loss_set_window_probe(ctx);
}

/* The byte of window probes is sent with other data now, as if for the first time: takes the probes out of the send
 * log, and the byte out of those sent. */
static void
tcp_sent_take_probed_byte(struct tcp_segment_ctx *ctx)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	struct tcp_endpoint *e = ctx->ep;
	const struct send_log_entry *entry = send_log_entry_at(pools, e->log_tail);

	for (; entry != NULL && entry->seq == e->una && entry->len == 1; entry = send_log_entry_before(pools, entry))
		e->log_tail = entry->prev_and_retransmitted >> 1;
	e->bytes--;
	tcp_loss_clear_window_probe(ctx);
}

/*
 * Whether the segment is a probe that requests an ACK, not a retransmission: nothing is outstanding, and it sends one
 * byte below SND.NXT or nothing at that place (RFC 9293 3.8.4, Linux tcp_xmit_probe_skb); with a closed window also one
 * byte that the peer must refuse.
 */
static bool
tcp_sent_keepalive_or_persist(struct tcp_segment_ctx *ctx, uint32_t length)
{
	const struct tcp_layer *t = ctx->header;
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;
	bool closed_window = peer->wnd == 0 && peer->segments_sent != 0 && (peer->flags & TCP_EP_SEQ_KNOWN) != 0;
	struct send_log_result last;

	if (!tcp_state_is_synchronized((enum tcp_state)e->state) || e->state == TCP_STATE_TIME_WAIT || length > 1 ||
	    (t->flags & TCP_FIN) != 0)
		return false;
	if (closed_window && length == 1 && tcp_sent_byte_is_probe(ctx)) {
		tcp_sent_window_probe(ctx);
		return true;
	}
	if (e->una != e->nxt || t->seq != e->nxt - 1)
		return false;
	if (length == 1) {
		last = send_log_search(flow_table_tcp_pools(ctx->table), e, t->seq);
		if (last.found && ctx->us - last.last_us < TCP_KEEPALIVE_MIN_US)
			return false;
	}
	tcp_report_timeout(ctx, closed_window ? TIMEOUT_PERSIST : TIMEOUT_KEEPALIVE);
	return true;
}

/* Bytes of a segment that begins below SND.NXT and were not captured before. */
static uint32_t
tcp_sent_fresh_bytes(struct tcp_segment_ctx *ctx)
{
	uint32_t seq = ctx->header->seq, payload_end = seq + ctx->payload_len;
	uint32_t fresh = ctx->repeat.fresh < ctx->payload_len ? ctx->repeat.fresh : ctx->payload_len;
	uint32_t beyond = tcp_seq_before(ctx->ep->nxt, payload_end) ? payload_end - ctx->ep->nxt : 0;
	uint32_t filled = tcp_holes_fill(ctx, seq, payload_end - beyond);

	if (fresh != ctx->payload_len)
		fresh += beyond;
	if (ctx->repeat.holes_known || fresh <= filled + beyond)
		return filled + beyond;
	tcp_holes_fill_forgotten(ctx, fresh - filled - beyond);
	return fresh;
}

/* Processes a segment that begins below SND.NXT and ends at `end`. */
static void
tcp_sent_repeat(struct tcp_segment_ctx *ctx, uint32_t end)
{
	struct tcp_endpoint *e = ctx->ep;
	uint32_t seq = ctx->header->seq;

	e->bytes += tcp_sent_fresh_bytes(ctx);
	/* Mid-stream, and no ACK was captured yet. */
	if ((e->flags & TCP_EP_ISS_KNOWN) == 0 && ctx->peer->segments_sent == 0 && tcp_seq_before(seq, e->una))
		e->una = seq;
	if (ctx->repeat.kind == TCP_REPEAT_REORDERED) {
		flow_table_counters_rw(ctx->table)->reordered_segments++;
		record_count_out_of_order(ctx->table, ctx->flow, ctx->endpoint);
		tcp_log_segment(ctx, seq, end, true);
	} else {
		tcp_loss_on_retransmission(ctx, seq, end);
	}
}

/* --- after a reset --- */

/* The endpoint of a connection that continues one that was reset is a new socket (tcp_continue_endpoint()): it has
 * received the ACK of its SYN. */
static void
tcp_open_new_socket(struct tcp_segment_ctx *ctx, unsigned endpoint)
{
	struct tcp_endpoint *e = &ctx->flow->tcp[endpoint];

	if (e->state != TCP_STATE_NONE || (e->flags & TCP_EP_ISS_KNOWN) == 0)
		return;
	e->state = TCP_STATE_LISTEN;
	tcp_change_state(ctx->table, ctx->flow, endpoint, TCP_INPUT_SEND_SYN_ACK, ctx->now, ctx->events);
	flow_events_add(ctx->events, EVENT_TCP_ACCEPT_ESTABLISHED, endpoint, ctx->now);
	tcp_change_state(ctx->table, ctx->flow, endpoint, TCP_INPUT_RECV_ACK_OF_SYN, ctx->now, ctx->events);
	ctx->changed = true;
}

/* A segment of an endpoint that was reset, but goes on: nothing had closed it, so nothing is reported. */
static void
tcp_sent_after_reset(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	const struct tcp_endpoint *peer = ctx->peer;
	struct tcp_endpoint *e = ctx->ep;

	tcp_open_new_socket(ctx, 0);
	tcp_open_new_socket(ctx, 1);
	if (e->state == TCP_STATE_CLOSED && peer->state == TCP_STATE_SYN_RECEIVED &&
	    (e->flags & TCP_EP_ACTIVE_OPEN) != 0 && e->una == e->iss && t->seq == e->nxt && t->ack == peer->nxt) {
		e->state = TCP_STATE_SYN_SENT; /* the RST answered a SYN,ACK that it did not accept */
	} else if (tcp_goes_on_after_reset(ctx->table, ctx->flow, ctx->endpoint, t, ctx->now)) {
		tcp_reopen(&ctx->flow->tcp[0]);
		tcp_reopen(&ctx->flow->tcp[1]);
		ctx->changed = true;
	}
	ctx->before = *e;
}

/* Processes sent sequence space: [seq, seq + length), or a bare ACK beyond everything captured so far. */
static void
tcp_sent_sequence_space(struct tcp_segment_ctx *ctx, uint32_t length)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	uint32_t end = t->seq + length;
	bool fin = length > ctx->payload_len;

	if (ctx->repeat.kind != TCP_REPEAT_NONE) {
		tcp_sent_repeat(ctx, end);
	} else {
		/* The entry of a bare ACK beyond SND.NXT shows when the missing segments were overtaken. */
		if (ctx->repeat.probed)
			tcp_sent_take_probed_byte(ctx);
		if (tcp_seq_before(e->nxt, t->seq))
			tcp_holes_add(ctx, e->nxt, t->seq);
		tcp_log_segment(ctx, t->seq, end, false);
		e->bytes += ctx->payload_len;
		if (length != 0)
			tcp_rtt_start_if_idle(e, t->seq, ctx->us);
	}
	e->nxt = tcp_seq_max(e->nxt, end);
	/* No sender is so far ahead, so everything before was acknowledged in ACKs that were not captured. */
	if (e->nxt - e->una > TCP_WINDOW_MAX)
		e->una = t->seq;
	if (fin && end == e->nxt)
		e->flags |= TCP_EP_FIN_SENT;
}

/* --- a FIN that may be forged --- */

/* The FIN acknowledges bytes that the peer was not captured sending: a receiver ignores such a segment, unless frames
 * are missing in the capture.  What follows shows which. */
static bool
tcp_sent_fin_is_unproven(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;

	return (t->flags & TCP_FIN) != 0 && (e->flags & TCP_EP_FIN_SENT) == 0 && tcp_acceptance_is_known(peer) &&
	       tcp_endpoint_has_numbers(e) && tcp_seq_before(peer->nxt, t->ack) &&
	       !tcp_seq_before(t->seq + ctx->payload_len, e->nxt) &&
	       !(t->ack == peer->nxt + 1 && peer->fin_unproven);
}

static void
tcp_drop_unproven_fin(struct tcp_segment_ctx *ctx)
{
	ctx->ep->fin_unproven = false;
	if (pending_syn_find(ctx->table, ctx->flow) == NULL)
		ctx->ep->slow_reasons &= (uint8_t)~TCP_SLOW_UNDECIDED;
}

void
tcp_prove_fin(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;

	tcp_drop_unproven_fin(ctx);
	send_log_append(flow_table_tcp_pools(ctx->table), e,
			&(struct send_log_record){e->nxt, e->nxt + 1, ctx->us, 0, false});
	e->nxt++;
	e->flags |= TCP_EP_FIN_SENT;
	tcp_apply_input(ctx, TCP_INPUT_SEND_FIN);
}

/* A segment of an endpoint with an unproven FIN: from after the FIN it proves the FIN; data in its place, or a new ACK
 * from there, refute it. */
static void
tcp_sent_after_unproven_fin(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;

	if (!ctx->ep->fin_unproven)
		return;
	if (t->seq == ctx->ep->nxt + 1)
		tcp_prove_fin(ctx);
	else if (t->seq == ctx->ep->nxt && (t->flags & TCP_FIN) == 0 &&
		 (ctx->payload_len != 0 || tcp_seq_in_ack_range(ctx->ep->last_ack_sent, t->ack, ctx->peer->nxt))) {
		tcp_drop_unproven_fin(ctx);
		tcp_loss_clear_unanswered_data(ctx->table, ctx->flow, ctx->endpoint);
	}
}

/* The peer was captured acknowledging exactly what the endpoint has sent by now: this direction is captured late. */
static __attribute__((noinline)) void
tcp_sent_after_its_ack(struct tcp_segment_ctx *ctx)
{
	struct tcp_endpoint *e = ctx->ep;

	e->una = e->nxt;
	tcp_rtt_cancel(e);
	if ((e->flags & TCP_EP_FIN_SENT) != 0 && (e->slow_reasons & TCP_SLOW_FIN_DEFERRED) == 0)
		tcp_apply_input(ctx, TCP_INPUT_RECV_ACK_OF_FIN);
}

static void
tcp_sent_synchronized(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	uint32_t length = ctx->payload_len + ((t->flags & TCP_FIN) != 0);

	if (e->state == TCP_STATE_CLOSED || e->state == TCP_STATE_NONE || ctx->peer->state == TCP_STATE_NONE)
		tcp_sent_after_reset(ctx);
	if (e->state == TCP_STATE_NONE && !tcp_pick_up_midstream(ctx))
		return;
	tcp_sent_apply_fin_ack(ctx);
	tcp_sent_after_unproven_fin(ctx);
	if (tcp_sent_fin_is_unproven(ctx)) {
		(void)tcp_unsent_ack_is_confirmed(ctx);
		e->fin_unproven = true;
		e->slow_reasons |= TCP_SLOW_UNDECIDED;
		length = ctx->payload_len;
	} else if ((t->flags & TCP_ACK) != 0) {
		tcp_sent_ack(ctx);
		/* Not the window of an ACK that a newer one has overtaken (RFC 9293 section 3.10.7.4, SND.WL2). */
		if (t->ack == e->last_ack_sent)
			e->wnd = (uint32_t)t->window << e->wscale;
		tcp_loss_on_sack_sent(ctx);
	}
	if (!tcp_sent_keepalive_or_persist(ctx, length) && (length != 0 || tcp_seq_before(e->nxt, t->seq)))
		tcp_sent_sequence_space(ctx, length);
	if ((e->flags & TCP_EP_FIN_SENT) != 0)
		tcp_apply_input(ctx, TCP_INPUT_SEND_FIN);
	if (length != 0 && tcp_ack_was_early(ctx->table, ctx->flow, 1 - ctx->endpoint))
		tcp_sent_after_its_ack(ctx);
}

/* --- segments of another sender --- */

/* The capture has lost more than a window: the numbers of the segment are taken as they are. */
static void
tcp_resync_sent(struct tcp_segment_ctx *ctx)
{
	struct tcp_loss_pair *pair = loss_pool_acquire(ctx->table, ctx->flow);
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;

	pair->end[0].ignored.valid = pair->end[1].ignored.valid = false;
	pair->end[ctx->endpoint].resynced = true;
	e->slow_reasons |= TCP_SLOW_LOSS; /* until its peer has received the segment */
	if (tcp_seq_before(e->rcv_nxt, t->ack)) {
		e->rcv_nxt = e->last_ack_sent = t->ack;
		e->resyncs = (e->resyncs + 1u) & 3u;
	}
	if (t->seq != e->nxt)
		tcp_loss_resync(ctx, t->seq);
}

/* Whether the endpoint itself cannot have sent the segment, or not as a part of this connection.  Data that its peer
 * ignores only because of an old timestamp, and that the endpoint sent before, may be a late copy.  Takes the numbers
 * anew if the check shows that the capture has lost a window. */
static __attribute__((noinline)) bool
tcp_sent_by_another(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_arrival arrival = {
	    .table = ctx->table,
	    .flow = ctx->flow,
	    .ep = ctx->peer,
	    .sender = ctx->ep,
	    .header = t,
	    .payload_len = ctx->payload_len,
	    .endpoint = 1 - ctx->endpoint,
	};
	uint32_t length = ctx->payload_len + ((t->flags & TCP_FIN) != 0);
	enum anomaly anomaly;
	bool resync;

	anomaly = tcp_check_arrival(&arrival, &resync);
	if (resync)
		tcp_resync_sent(ctx);
	switch (anomaly) {
	case ANOMALY_TCP_ACK_IGNORED:
	case ANOMALY_TCP_OUTSIDE_WINDOW:
		return true;
	case ANOMALY_TCP_TIMESTAMP_OLD:
		return length == 0 || tcp_seq_before(ctx->ep->nxt, t->seq + length);
	default:
		return false;
	}
}

void
tcp_process_sent(struct tcp_segment_ctx *ctx)
{
	uint8_t flags = ctx->header->flags;

	if ((flags & TCP_RST) != 0) {
		tcp_sent_rst(ctx);
		return;
	}
	if (!tcp_arrival_is_expected(ctx->peer, ctx->header) && tcp_sent_by_another(ctx))
		return;
	if ((flags & TCP_SYN) != 0) {
		if ((flags & (TCP_FIN | TCP_ACK)) != TCP_FIN)
			tcp_sent_syn(ctx);
	} else if ((flags & TCP_ACK) != 0 || ctx->ep->state == TCP_STATE_NONE) {
		tcp_sent_synchronized(ctx);
	}
}
