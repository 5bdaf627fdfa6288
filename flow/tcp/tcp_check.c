/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments that their receiver must ignore: RFC 9293 section 3.10.7, RFC 5961, RFC 7323 section 5, and the constants of
 * Linux.  The receiver's numbers are known from its own segments.  The capture may have missed some of them, so a
 * number is impossible only beyond what the receiver has advertised and beyond what its sender was captured sending; an
 * endpoint that was never captured sending is not checked against its window.
 */
#include "flow/tcp/tcp_check.h"

#include "flow/tcp/tcp_internal.h"

/* Old numbers are accepted within at least this many bytes below the expected one: windows shrink. */
#define TCP_OLD_WINDOW_MIN 65536u

/* Largest window that the endpoint may have advertised with its last segment, bytes. */
static uint32_t
tcp_window_bytes(const struct tcp_endpoint *e, const struct tcp_endpoint *peer)
{
	if ((e->flags & peer->flags & TCP_EP_ISS_KNOWN) != 0 || e->wscale != 0)
		return e->wnd;
	return e->wnd << 14; /* the largest shift (RFC 7323 section 2.3); wnd is at most 65535 */
}

static uint32_t
tcp_old_window(const struct tcp_endpoint *e, const struct tcp_endpoint *peer)
{
	uint32_t window = tcp_window_bytes(e, peer);

	return window < TCP_OLD_WINDOW_MIN ? TCP_OLD_WINDOW_MIN : window;
}

/* Whether the endpoint has received the peer's SYN, or anything after it. */
static bool
tcp_has_received(const struct tcp_endpoint *e)
{
	return tcp_state_is_synchronized((enum tcp_state)e->state) || e->state == TCP_STATE_SYN_RECEIVED ||
	       tcp_syn_ack_is_deferred(e);
}

bool
tcp_acceptance_is_known(const struct tcp_endpoint *e)
{
	return e->segments_sent != 0 && tcp_has_received(e);
}

/* --- the numbers --- */

/* An ACK number that the peer of `e`, `sender`, cannot send: beyond the window that it advertised, which bounds what
 * `e` may have sent to it. */
static bool
tcp_ack_is_unsent(const struct tcp_endpoint *e, const struct tcp_endpoint *sender, uint32_t ack)
{
	uint32_t limit = sender->last_ack_sent + tcp_window_bytes(sender, e);

	if (!tcp_has_received(sender)) {
		if ((e->flags & sender->flags & TCP_EP_ISS_KNOWN) == 0)
			return false;
		limit = e->nxt + sender->wnd;
	} else if ((e->flags & TCP_EP_SEQ_KNOWN) != 0) {
		limit = tcp_seq_max(limit, e->nxt);
	}
	return tcp_seq_before(limit, ack);
}

/* An ACK number from before the connection, or more than a window old (RFC 5961 section 5.2).  Linux limits that window
 * to the sequence space that was acknowledged, which contains the SYN of an active opener only: the ISN of an active
 * opener is an acceptable old ACK number, that of a passive one is not. */
static bool
tcp_ack_is_old(const struct tcp_endpoint *e, const struct tcp_endpoint *sender, uint32_t ack)
{
	bool includes_iss = (e->flags & TCP_EP_ACTIVE_OPEN) != 0 && tcp_state_is_synchronized((enum tcp_state)e->state);
	uint32_t first = e->iss + !includes_iss;

	if (e->segments_sent == 0 || (e->flags & TCP_EP_SEQ_KNOWN) == 0)
		return false;
	if ((e->flags & TCP_EP_ISS_KNOWN) != 0 && e->bytes < TCP_WINDOW_MAX && e->nxt - e->iss < TCP_WINDOW_MAX &&
	    tcp_seq_before(ack, first))
		return true;
	return tcp_has_received(sender) && tcp_seq_before(ack, e->una - tcp_old_window(sender, e));
}

/* Sequence numbers that the sender cannot use: beyond the window of `e` without a connection to what it was captured
 * sending, or more than a window old. */
static bool
tcp_seq_is_impossible(const struct tcp_endpoint *e, const struct tcp_endpoint *sender, uint32_t seq, uint32_t end_seq)
{
	uint32_t limit = e->last_ack_sent + tcp_window_bytes(e, sender);

	if (!tcp_acceptance_is_known(e) || (sender->flags & TCP_EP_SEQ_KNOWN) == 0)
		return false;
	return tcp_seq_before(tcp_seq_max(limit, sender->nxt), seq) ||
	       tcp_seq_before(end_seq, e->last_ack_sent - tcp_old_window(e, sender));
}

/* --- agreement --- */

static bool
tcp_seq_is_near(uint32_t a, uint32_t b)
{
	return a - b + TCP_RESYNC_BYTES <= 2 * TCP_RESYNC_BYTES;
}

/*
 * Whether impossible numbers are right nevertheless, because the capture has lost more than a window in both
 * directions: the other endpoint, too, has sent numbers that its peer had to ignore, and both agree.  Of an endpoint
 * that is not captured, two consecutive segments of its peer have to agree.  Numbers that are not ahead of what was
 * captured are old instead.
 */
static bool
tcp_numbers_are_confirmed(const struct tcp_arrival *a)
{
	const struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(a->table), flow_cold(a->table, a->flow));
	const struct tcp_layer *t = a->header;
	const struct tcp_ignored *theirs, *own;

	if (pair == NULL || (t->flags & (TCP_SYN | TCP_RST | TCP_ACK)) != TCP_ACK ||
	    (a->ep->nxt - t->ack < TCP_WINDOW_MAX && a->sender->nxt - t->seq < TCP_WINDOW_MAX))
		return false;
	own = &pair->end[a->endpoint].ignored;
	theirs = &pair->end[1 - a->endpoint].ignored;
	if (theirs->valid && tcp_seq_is_near(t->ack, theirs->end_seq) && tcp_seq_is_near(t->seq, theirs->ack))
		return true;
	return own->valid &&
	       (a->ep->segments_sent == 0 ||
		(a->ep->state == TCP_STATE_SYN_RECEIVED && !tcp_ack_is_deferred(a->ep))) &&
	       own->segments + 1 == a->sender->segments_sent && tcp_seq_is_near(t->seq, own->end_seq) &&
	       tcp_seq_is_near(t->ack, own->ack) && !tcp_seq_before(t->ack, own->ack);
}

/* --- the checks --- */

static enum anomaly
tcp_check_syn(const struct tcp_arrival *a)
{
	const struct tcp_layer *t = a->header;
	const struct tcp_endpoint *e = a->ep;
	bool acks = (t->flags & TCP_ACK) != 0;

	if (e->state == TCP_STATE_SYN_SENT && (e->slow_reasons & TCP_SLOW_SYN_ACK_DEFERRED) == 0)
		return acks && !tcp_seq_in_ack_range(e->iss, t->ack, e->nxt) ? ANOMALY_TCP_ACK_IGNORED : ANOMALY_NONE;
	if (e->state == TCP_STATE_SYN_RECEIVED && !tcp_ack_is_deferred(e)) {
		if (acks)
			return tcp_seq_in_ack_range(e->iss, t->ack, e->nxt) && t->seq + 1 == e->rcv_nxt
				       ? ANOMALY_NONE : ANOMALY_TCP_ACK_IGNORED;
		return t->seq + 1 == e->rcv_nxt ? ANOMALY_NONE : ANOMALY_TCP_SYN_IGNORED;
	}
	return tcp_has_received(e) ? ANOMALY_TCP_SYN_IGNORED : ANOMALY_NONE;
}

bool
tcp_seq_is_unsent_ack(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t seq)
{
	const struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(table), flow_cold(table, flow));
	const struct tcp_unsent_ack *unsent = pair == NULL ? NULL : &pair->end[endpoint].unsent;

	return unsent != NULL && unsent->valid && !unsent->refuted && unsent->ack == seq;
}

bool
tcp_ack_is_early(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t *ack)
{
	const struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(table), flow_cold(table, flow));
	const struct tcp_unsent_ack *unsent = pair == NULL ? NULL : &pair->end[endpoint].unsent;

	if (unsent == NULL || !unsent->valid || unsent->own != flow->tcp[endpoint].segments_sent)
		return false;
	*ack = unsent->ack;
	return true;
}

bool
tcp_ack_was_early(struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];
	uint32_t ack;

	return ((peer->flags & TCP_EP_FIN_SENT) != 0 || e->fin_unproven) &&
	       tcp_ack_is_early(table, flow, endpoint, &ack) && ack == peer->nxt;
}

/* Whether the endpoint accepts a RST at once; a RST that is merely in the window is answered with a challenge ACK. */
static bool
tcp_rst_is_acceptable(const struct tcp_arrival *a)
{
	const struct tcp_endpoint *e = a->ep;
	uint32_t seq = a->header->seq, edge;

	if (e->segments_sent == 0 || seq == e->rcv_nxt)
		return true;
	switch (e->state) {
	case TCP_STATE_SYN_RECEIVED:
		break;
	case TCP_STATE_CLOSE_WAIT:
	case TCP_STATE_LAST_ACK:
	case TCP_STATE_CLOSING:
		/* The FIN's own sequence number: some senders do not count their FIN (Linux tcp_reset_check). */
		if (seq == e->rcv_nxt - 1)
			return true;
		break;
	default:
		/* A FIN that it may have received by now. */
		if ((e->slow_reasons & TCP_SLOW_FIN_DEFERRED) != 0 && seq == e->rcv_nxt - 1)
			return true;
		break;
	}
	return (tcp_loss_sack_edge(a->table, a->flow, a->endpoint, &edge) && seq == edge) ||
	       tcp_seq_is_unsent_ack(a->table, a->flow, a->endpoint, seq);
}

static enum anomaly
tcp_check_rst(const struct tcp_arrival *a)
{
	const struct tcp_endpoint *e = a->ep;
	const struct tcp_layer *t = a->header;
	bool acks = (t->flags & TCP_ACK) != 0;

	if (e->state == TCP_STATE_SYN_SENT && (e->slow_reasons & TCP_SLOW_SYN_ACK_DEFERRED) == 0)
		return acks && tcp_seq_in_ack_range(e->iss, t->ack, e->nxt) ? ANOMALY_NONE : ANOMALY_TCP_RST_IGNORED;
	if (!tcp_has_received(e))
		return ANOMALY_NONE;
	return tcp_rst_is_acceptable(a) ? ANOMALY_NONE : ANOMALY_TCP_RST_IGNORED;
}

static bool
tcp_segment_is_old_ack(const struct tcp_arrival *a)
{
	const struct tcp_layer *t = a->header;

	return a->payload_len == 0 && (t->flags & TCP_FIN) == 0 && !tcp_seq_before(a->ep->una, t->ack);
}

/* A bare ACK that another one overtook is not worth an anomaly: it changes nothing (Linux tcp_disordered_ack). */
static enum anomaly
tcp_check_ack(const struct tcp_arrival *a)
{
	const struct tcp_layer *t = a->header;
	const struct tcp_endpoint *e = a->ep, *sender = a->sender;
	uint32_t end_seq = t->seq + a->payload_len + ((t->flags & TCP_FIN) != 0);

	if (sender->segments_sent == 0 || e->state == TCP_STATE_CLOSED || !tcp_endpoint_has_numbers(sender))
		return ANOMALY_NONE;
	if (tcp_timestamp_is_old(e, t) && tcp_acceptance_is_known(e) && !tcp_segment_is_old_ack(a))
		return ANOMALY_TCP_TIMESTAMP_OLD;
	if (tcp_ack_is_unsent(e, sender, t->ack) || tcp_ack_is_old(e, sender, t->ack) ||
	    (e->state == TCP_STATE_SYN_RECEIVED && sender->state == TCP_STATE_SYN_SENT &&
	     !tcp_seq_in_ack_range(e->iss, t->ack, e->nxt)))
		return ANOMALY_TCP_ACK_IGNORED;
	return tcp_seq_is_impossible(e, sender, t->seq, end_seq) ? ANOMALY_TCP_OUTSIDE_WINDOW : ANOMALY_NONE;
}

enum anomaly
tcp_check_arrival(const struct tcp_arrival *a, bool *resync)
{
	uint8_t flags = a->header->flags;
	enum anomaly anomaly;

	*resync = false;
	if (tcp_arrival_is_expected(a->ep, a->header))
		return ANOMALY_NONE;
	if ((flags & TCP_RST) != 0)
		return tcp_check_rst(a);
	if ((flags & TCP_SYN) != 0)
		return tcp_check_syn(a);
	if ((flags & TCP_ACK) == 0)
		return ANOMALY_NONE;
	anomaly = tcp_check_ack(a);
	if (anomaly == ANOMALY_NONE || anomaly == ANOMALY_TCP_TIMESTAMP_OLD)
		return anomaly;
	*resync = tcp_numbers_are_confirmed(a);
	return *resync ? ANOMALY_NONE : anomaly;
}

void
tcp_store_ignored(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;

	loss_pool_acquire(ctx->table, ctx->flow)->end[ctx->endpoint].ignored = (struct tcp_ignored){
	    .valid = true,
	    .end_seq = t->seq + ctx->payload_len + ((t->flags & TCP_FIN) != 0),
	    .ack = t->ack,
	    .segments = ctx->peer->segments_sent,
	};
}

/* --- RST --- */

/*
 * A RST has SND.NXT of its sender, or answers a segment of the peer with its ACK number; Linux also uses the right edge
 * of the peer's window, and a socket that is closed the number of its FIN.  The ACK number of data that resets a closed
 * socket may be older than the last one captured.  If frames are missing in the capture, the RST has the number up to
 * which the peer has acknowledged them.
 */
bool
tcp_rst_is_genuine(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;
	uint32_t seq = ctx->header->seq;

	if (!tcp_acceptance_is_known(peer) || (e->flags & TCP_EP_SEQ_KNOWN) == 0)
		return true;
	return seq == e->nxt || seq == e->una || seq == peer->rcv_nxt || seq == peer->last_ack_sent ||
	       seq == peer->last_ack_sent + peer->wnd ||
	       ((e->flags & TCP_EP_FIN_SENT) != 0 && seq == e->nxt - 1) || tcp_loss_rst_answers_data(ctx) ||
	       tcp_seq_is_unsent_ack(ctx->table, ctx->flow, 1 - ctx->endpoint, seq);
}

/* --- after a RST --- */

/* What was sent before a RST is captured this soon after it. */
#define TCP_RESET_SETTLES_NS (NANOSECONDS / 4)

bool
tcp_goes_on_after_reset(struct flow_table *table, const struct flow *flow, unsigned sender, const struct tcp_layer *t,
			uint64_t now)
{
	const struct tcp_endpoint *e = &flow->tcp[sender], *peer = &flow->tcp[1 - sender];
	uint64_t keep_ns = flow_table_limits(table)->tcp_time_wait_ns / 2; /* as in tcp_flow_reclassify() */

	return e->state == TCP_STATE_CLOSED && peer->state == TCP_STATE_CLOSED &&
	       (t->flags & (TCP_SYN | TCP_RST | TCP_ACK)) == TCP_ACK &&
	       (e->flags & peer->flags & TCP_EP_SEQ_KNOWN) != 0 && t->seq == e->nxt &&
	       tcp_seq_in_ack_range(tcp_seq_max(e->rcv_nxt, e->last_ack_sent), t->ack, peer->nxt) &&
	       peer->nxt - e->rcv_nxt < TCP_WINDOW_MAX && e->nxt - peer->rcv_nxt < TCP_WINDOW_MAX &&
	       deadline_add(now, keep_ns) >= deadline_add(flow->deadline, TCP_RESET_SETTLES_NS);
}
