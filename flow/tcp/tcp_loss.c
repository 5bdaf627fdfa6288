/* SPDX-License-Identifier: BSD-2-Clause */
/* Evidence of a sender's losses: ACKs, SACK blocks (RFC 2018), D-SACK (RFC 2883). */
#include "flow/tcp/tcp_internal.h"

/* RFC 6928: initial congestion window in segments. */
#define INITIAL_WINDOW 10u

static struct tcp_loss *
tcp_loss_acquire(struct tcp_segment_ctx *ctx)
{
	return &loss_pool_acquire(ctx->table, ctx->flow)->end[ctx->endpoint];
}

/* --- SACK blocks --- */

static void
tcp_loss_remove_sacked(struct tcp_loss *loss, unsigned at)
{
	loss->sacked_count--;
	memmove(&loss->sacked[at], &loss->sacked[at + 1], (loss->sacked_count - at) * sizeof loss->sacked[0]);
}

/* Adds [begin, end) to the SACKed ranges and merges adjacent ones.  If the array is full the lowest range is dropped:
 * it is acknowledged next. */
static void
tcp_loss_add_sacked(struct tcp_loss *loss, uint32_t begin, uint32_t end_seq)
{
	unsigned at = 0;

	while (at < loss->sacked_count) {
		struct tcp_seq_range *r = &loss->sacked[at];

		if (tcp_seq_before(end_seq, r->begin) || tcp_seq_before(r->end_seq, begin)) {
			at++;
			continue;
		}
		begin = tcp_seq_before(r->begin, begin) ? r->begin : begin;
		end_seq = tcp_seq_max(r->end_seq, end_seq);
		tcp_loss_remove_sacked(loss, at);
	}
	if (loss->sacked_count == TCP_SACK_RANGES_MAX)
		tcp_loss_remove_sacked(loss, 0);
	for (at = 0; at < loss->sacked_count && tcp_seq_before(loss->sacked[at].begin, begin); at++)
		;
	memmove(&loss->sacked[at + 1], &loss->sacked[at], (loss->sacked_count - at) * sizeof loss->sacked[0]);
	loss->sacked[at] = (struct tcp_seq_range){begin, end_seq};
	loss->sacked_count++;
}

static void
tcp_loss_drop_acknowledged(struct tcp_loss *loss, uint32_t una)
{
	while (loss->sacked_count != 0 && !tcp_seq_before(una, loss->sacked[0].end_seq))
		tcp_loss_remove_sacked(loss, 0);
	if (loss->sacked_count != 0 && tcp_seq_before(loss->sacked[0].begin, una))
		loss->sacked[0].begin = una;
}

/* Records that the byte `seq` has arrived. */
static void
tcp_loss_update_rack(struct tcp_segment_ctx *ctx, struct tcp_loss *loss, uint32_t seq)
{
	struct send_log_result last = send_log_search(flow_table_tcp_pools(ctx->table), ctx->ep, seq);

	if (!last.found || (loss->rack_valid && !tcp_seq_before(loss->rack_xmit_us, last.last_us)))
		return;
	/* Too soon for the retransmission: an earlier transmission has arrived (Linux tcp_rack_advance). */
	if (last.count > 1 && ctx->us - last.last_us < ctx->ep->srtt_us / 4 * 3)
		return;
	loss->rack_valid = true;
	loss->rack_xmit_us = last.last_us;
}

/* Whether the arrival of byte `seq` shows that the timer expired too early: the byte was sent before the timeout and
 * not again (F-RTO, RFC 5682 step 3b). */
static bool
tcp_loss_rto_was_spurious(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss, uint32_t seq)
{
	return loss->state == TCP_CONGESTION_LOSS && loss->frto_pending && !tcp_seq_before(seq, loss->high_rxt) &&
	       tcp_seq_before(seq, loss->recovery_point) && !tcp_loss_is_sacked(loss, seq, seq + 1) &&
	       send_log_search(flow_table_tcp_pools(ctx->table), ctx->ep, seq).count == 1;
}

/* Takes the SACK blocks beyond the ACK that lie within what was sent.  Others are D-SACK or invalid. */
static void
tcp_loss_process_sack(struct tcp_segment_ctx *ctx, struct tcp_loss *loss)
{
	const struct tcp_layer *t = ctx->header;
	const struct tcp_endpoint *e = ctx->ep;
	unsigned i;

	for (i = 0; i < t->sack_count; i++) {
		uint32_t begin = t->sack[i][0], end_seq = t->sack[i][1];

		if (tcp_seq_before(begin, end_seq) && tcp_seq_before(t->ack, end_seq) &&
		    tcp_seq_before(e->una, end_seq) && !tcp_seq_before(begin, e->una) &&
		    !tcp_seq_before(e->nxt, end_seq)) {
			if (tcp_loss_rto_was_spurious(ctx, loss, begin) ||
			    tcp_loss_rto_was_spurious(ctx, loss, end_seq - 1))
				loss->state = TCP_CONGESTION_OPEN;
			tcp_loss_add_sacked(loss, begin, end_seq);
			loss->loss_ack_us = ctx->us | 1;
			if (i == 0)
				tcp_loss_update_rack(ctx, loss, end_seq - 1);
		}
	}
}

bool
tcp_loss_is_sacked(const struct tcp_loss *loss, uint32_t seq, uint32_t end_seq)
{
	unsigned i;

	for (i = 0; i < loss->sacked_count; i++)
		if (!tcp_seq_before(seq, loss->sacked[i].begin) && !tcp_seq_before(loss->sacked[i].end_seq, end_seq))
			return true;
	return false;
}

bool
tcp_loss_is_lost(const struct tcp_endpoint *e, const struct tcp_loss *loss, uint32_t seq)
{
	if (loss->sacked_count != 0 && tcp_seq_before(seq, loss->sacked[loss->sacked_count - 1].begin))
		return true;
	return (e->slow_reasons & TCP_SLOW_DUPACKS) >= 3;
}

/* --- received ACKs --- */

static bool
tcp_sack_is_negotiated(const struct tcp_segment_ctx *ctx)
{
	return (ctx->ep->flags & ctx->peer->flags & TCP_EP_SACK_OFFERED) != 0;
}

/* The echoed timestamp shows which transmission an ACK answers (Eifel, RFC 3522; also round trips in spite of Karn's
 * rule, RFC 7323). */
static void
tcp_loss_check_eifel(struct tcp_segment_ctx *ctx, struct tcp_loss *loss)
{
	const struct tcp_layer *t = ctx->header;

	if (loss->retrans_us == 0 || (t->options & TCP_OPTION_TIMESTAMPS) == 0 ||
	    tcp_seq_before(ctx->ep->una, loss->retrans_end_seq))
		return;
	if (t->tsecr == loss->retrans_tsval)
		record_count_round_trip(ctx->table, ctx->flow, 1 - ctx->endpoint,
					tcp_rtt_add_sample(ctx->ep, ctx->us - loss->retrans_us));
	else if (tcp_seq_before(t->tsecr, loss->eifel_tsval))
		loss->state = TCP_CONGESTION_OPEN; /* the original transmission had arrived */
	loss->retrans_us = 0;
}

static void
tcp_loss_on_cumulative_ack(struct tcp_segment_ctx *ctx, struct tcp_loss *loss, uint32_t una)
{
	struct tcp_endpoint *e = ctx->ep;

	tcp_loss_update_rack(ctx, loss, una); /* the segment that filled the gap */
	tcp_loss_update_rack(ctx, loss, e->una - 1);

	e->slow_reasons &= (uint8_t)~TCP_SLOW_DUPACKS;
	/* Without SACK an ACK that covers the retransmission, too, may answer it (Linux tcp_clean_rtx_queue). */
	if (tcp_seq_before(loss->high_rxt, e->una) &&
	    (tcp_sack_is_negotiated(ctx) || !tcp_seq_before(una, loss->high_rxt)) &&
	    (tcp_loss_rto_was_spurious(ctx, loss, loss->high_rxt) || tcp_loss_rto_was_spurious(ctx, loss, e->una - 1)))
		loss->state = TCP_CONGESTION_OPEN;
	tcp_loss_check_eifel(ctx, loss);
	loss->window_probed = false;
	if (loss->state != TCP_CONGESTION_OPEN && !tcp_seq_before(e->una, loss->recovery_point))
		loss->state = TCP_CONGESTION_OPEN;
	tcp_loss_drop_acknowledged(loss, e->una);
}

/*
 * Whether the tail-loss probe has been acknowledged (RFC 8985 section 7.4.2, Linux tcp_process_tlp_ack).  An ACK of
 * exactly the probe's bytes may answer the original transmission, so the tail-loss probe stays outstanding; no other
 * one is sent meanwhile.
 */
static bool
tcp_loss_tlp_is_acked(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss, bool advanced)
{
	const struct tcp_layer *t = ctx->header;
	bool block = (t->options & TCP_OPTION_SACK) != 0 && t->sack_count != 0;

	if (tcp_seq_before(t->ack, loss->tlp_end_seq))
		return false;
	if (t->ack != loss->tlp_end_seq)
		return true;
	if (block)
		return t->sack[0][1] == loss->tlp_end_seq; /* D-SACK */
	return !advanced && ctx->payload_len == 0 && (t->flags & TCP_FIN) == 0;
}

/* Returns the endpoint to the fast path if there is no loss left to follow. */
static void
tcp_loss_update_slow_reason(struct tcp_endpoint *e, const struct tcp_loss *loss)
{
	if (loss->state == TCP_CONGESTION_OPEN && loss->sacked_count == 0 && !loss->tlp_outstanding &&
	    !loss->sack_edge_valid && !loss->window_probed)
		e->slow_reasons &= (uint8_t)~TCP_SLOW_LOSS;
	else
		e->slow_reasons |= TCP_SLOW_LOSS;
}

static void
tcp_loss_count_duplicate_ack(const struct tcp_segment_ctx *ctx, struct tcp_loss *loss)
{
	struct tcp_endpoint *e = ctx->ep;

	if ((e->slow_reasons & TCP_SLOW_DUPACKS) != TCP_SLOW_DUPACKS)
		e->slow_reasons++;
	loss->loss_ack_us = ctx->us | 1;
}

void
tcp_loss_on_ack(struct tcp_segment_ctx *ctx, uint32_t una)
{
	const struct tcp_layer *t = ctx->header;
	struct tcp_endpoint *e = ctx->ep;
	bool sack = (t->options & TCP_OPTION_SACK) != 0 && t->sack_count != 0;
	/* Duplicate ACK of RFC 5681 without its window condition, because the previous window is not kept.  With SACK
	 * the blocks show a loss. */
	bool duplicate = t->ack == una && e->una == una && una != e->nxt && ctx->payload_len == 0 &&
			 (t->flags & TCP_FIN) == 0 && !tcp_sack_is_negotiated(ctx);
	struct tcp_loss *loss;

	if (!sack && !duplicate && (e->slow_reasons & (uint8_t)~TCP_SLOW_DUPLICATE) == 0)
		return;
	loss = tcp_loss_acquire(ctx);
	loss->last_ack_us = ctx->us;
	if (loss->state != TCP_CONGESTION_OPEN)
		loss->loss_ack_us = ctx->us | 1;
	if (una != e->una || loss->advance_us == 0)
		loss->advance_us = ctx->us | 1;
	if (loss->tlp_outstanding && tcp_loss_tlp_is_acked(ctx, loss, una != e->una))
		loss->tlp_outstanding = false;
	if (una != e->una)
		tcp_loss_on_cumulative_ack(ctx, loss, una);
	else if (duplicate && !loss->window_probed)
		tcp_loss_count_duplicate_ack(ctx, loss);
	if (sack)
		tcp_loss_process_sack(ctx, loss);
	if (loss->state == TCP_CONGESTION_OPEN && loss->cwnd < e->nxt - e->una)
		loss->cwnd = e->nxt - e->una;
	tcp_loss_update_slow_reason(e, loss);
}

/* --- probes of a closed window --- */

void
tcp_loss_set_window_probe(struct tcp_segment_ctx *ctx)
{
	tcp_loss_acquire(ctx)->window_probed = true;
	ctx->ep->slow_reasons |= TCP_SLOW_LOSS;
}

bool
tcp_loss_window_is_probed(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	return loss != NULL && loss->window_probed && ctx->header->seq == ctx->ep->una && ctx->payload_len != 0;
}

void
tcp_loss_clear_window_probe(struct tcp_segment_ctx *ctx)
{
	tcp_loss_acquire(ctx)->window_probed = false;
}

/* --- after missing frames --- */

void
tcp_loss_resync(struct tcp_segment_ctx *ctx, uint32_t seq)
{
	struct tcp_endpoint *e = ctx->ep;
	struct tcp_loss *loss;

	if (tcp_seq_before(e->nxt, seq))
		tcp_holes_add(ctx, e->nxt, seq);
	e->una = e->nxt = seq;
	e->log_tail = 0;
	e->slow_reasons &= (uint8_t)~TCP_SLOW_DUPACKS;
	tcp_rtt_cancel(e);
	ctx->repeat = (struct tcp_repeat){.kind = TCP_REPEAT_NONE};
	loss = tcp_loss_find(ctx);
	if (loss == NULL)
		return;
	loss->state = TCP_CONGESTION_OPEN;
	loss->sacked_count = 0;
	loss->tlp_outstanding = loss->rack_valid = loss->frto_pending = loss->window_probed = false;
	loss->retrans_us = loss->loss_ack_us = 0;
}

/* --- as a receiver --- */

void
tcp_loss_on_sack_sent(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	bool sack = (t->options & TCP_OPTION_SACK) != 0 && t->sack_count != 0;
	struct tcp_loss *loss = sack ? tcp_loss_acquire(ctx) : tcp_loss_find(ctx);
	unsigned i;

	if (loss == NULL || (!sack && !loss->sack_edge_valid))
		return;
	loss->sack_edge_valid = false;
	for (i = 0; sack && i < t->sack_count; i++) {
		if (!tcp_seq_before(t->ack, t->sack[i][1]))
			continue; /* D-SACK */
		loss->sack_edge = loss->sack_edge_valid ? tcp_seq_max(loss->sack_edge, t->sack[i][1]) : t->sack[i][1];
		loss->sack_edge_valid = true;
	}
	tcp_loss_update_slow_reason(ctx->ep, loss);
}

bool
tcp_loss_sack_edge(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t *edge)
{
	const struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(table), flow_cold(table, flow));

	if (pair == NULL || !pair->end[endpoint].sack_edge_valid)
		return false;
	*edge = pair->end[endpoint].sack_edge;
	return true;
}

/* --- deferred FIN --- */

static bool
tcp_segment_has_timestamps(const struct tcp_segment_ctx *ctx)
{
	return (ctx->header->options & TCP_OPTION_TIMESTAMPS) != 0;
}

void
tcp_loss_set_deferred_fin(struct flow_table *table, struct flow *flow, unsigned endpoint, uint32_t tsval,
			  uint32_t tsecr)
{
	struct tcp_loss *loss = &loss_pool_acquire(table, flow)->end[endpoint];

	loss->fin_deferred = true;
	loss->fin_tsval = tsval;
	loss->fin_tsecr = tsecr;
}

/* Whether nothing in it is worth keeping. */
static bool
tcp_loss_is_empty(const struct tcp_loss *loss)
{
	return loss->state == TCP_CONGESTION_OPEN && loss->sacked_count == 0 && !loss->tlp_outstanding &&
	       !loss->tlp_proved && !loss->tlp_refuted && !loss->syn_resent && !loss->rack_valid &&
	       !loss->sack_edge_valid && !loss->fin_deferred && !loss->ignored.valid && !loss->unsent.valid &&
	       !loss->resynced && !loss->window_probed && loss->fin_wait_segments == 0 && loss->cwnd == 0 &&
	       loss->ssthresh == 0 && loss->retrans_us == 0 && loss->holes == 0;
}

/* Every connection has a FIN: a loss pair is not kept for that alone. */
static void
tcp_loss_release_if_empty(struct flow_table *table, struct flow *flow, const struct tcp_loss_pair *pair)
{
	if (tcp_loss_is_empty(&pair->end[0]) && tcp_loss_is_empty(&pair->end[1]))
		loss_pool_release(table, flow);
}

void
tcp_loss_clear_deferred_fin(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(table), flow_cold(table, flow));

	if (pair == NULL || !pair->end[endpoint].fin_deferred)
		return;
	pair->end[endpoint].fin_deferred = false;
	tcp_loss_release_if_empty(table, flow, pair);
}

bool
tcp_loss_coalesces_with_fin(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	if ((t->options & TCP_OPTION_SACK) != 0)
		return false;
	if (!tcp_segment_has_timestamps(ctx))
		return true;
	return loss != NULL && loss->fin_deferred && loss->fin_tsval == t->tsval && loss->fin_tsecr == t->tsecr;
}

/* --- data in FIN_WAIT_1 --- */

void
tcp_loss_set_unanswered_data(struct tcp_segment_ctx *ctx)
{
	struct tcp_loss *loss = tcp_loss_acquire(ctx);

	if (loss->fin_wait_segments != 0 && loss->fin_wait_segments == ctx->ep->segments_sent)
		return;
	loss->fin_wait_segments = ctx->ep->segments_sent;
	loss->fin_wait_ack = ctx->header->ack;
}

void
tcp_loss_clear_unanswered_data(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(table), flow_cold(table, flow));

	if (pair == NULL || pair->end[endpoint].fin_wait_segments == 0)
		return;
	pair->end[endpoint].fin_wait_segments = 0;
	tcp_loss_release_if_empty(table, flow, pair);
}

bool
tcp_loss_data_is_unanswered(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	return loss != NULL && loss->fin_wait_segments != 0 && loss->fin_wait_segments == ctx->ep->segments_sent;
}

bool
tcp_loss_rst_answers_data(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	return loss != NULL && loss->fin_wait_segments != 0 && loss->fin_wait_ack == ctx->header->seq &&
	       (tcp_fin_ack_is_deferred(ctx->ep) || loss->fin_wait_segments + 1 == ctx->ep->segments_sent);
}

/* --- estimates --- */

static uint32_t
tcp_send_mss(const struct flow_cold *cold, unsigned endpoint)
{
	uint32_t mss = cold->syn_mss[1 - endpoint];
	uint32_t timestamps = flow_cold_has_timestamps(cold) ? 12 : 0;

	return mss > timestamps ? mss - timestamps : mss;
}

void
tcp_estimate_congestion(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
			struct tcp_estimates *estimates)
{
	const struct flow_cold *cold = flow_cold((struct flow_table *)(uintptr_t)table, flow);
	const struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(table), cold);
	const struct tcp_endpoint *e = &flow->tcp[endpoint];
	const struct tcp_loss *loss = pair == NULL ? NULL : &pair->end[endpoint];
	uint32_t flight = tcp_state_is_synchronized((enum tcp_state)e->state) ? e->nxt - e->una : 0;

	*estimates = (struct tcp_estimates){.mss = tcp_send_mss(cold, endpoint)};
	estimates->cwnd = loss != NULL && loss->cwnd != 0 ? loss->cwnd : INITIAL_WINDOW * estimates->mss;
	if (estimates->cwnd < flight)
		estimates->cwnd = flight;
	if (loss == NULL)
		return;
	estimates->ssthresh = loss->ssthresh;
	if (loss->sacked_count != 0)
		estimates->sack_fack = loss->sacked[loss->sacked_count - 1].end_seq;
	if (loss->state == TCP_CONGESTION_RECOVERY)
		estimates->sack_snxt = loss->high_rxt;
}

/* Round trips and the retransmission timeout (RFC 6298), as a sender at the capture point would compute them. */

#define INITIAL_RTO_US 1000000u
#define TCP_RTO_VARIANCE_MIN_US 200000u /* TCP_RTO_MIN: Linux uses at least this for 4 * RTTVAR */
#define TCP_RTO_MAX_US 120000000u

uint32_t
tcp_rto_us(const struct tcp_endpoint *endpoint)
{
	uint64_t variation = 4ull * endpoint->rttvar_us, rto;

	if (endpoint->srtt_us == 0)
		return INITIAL_RTO_US;
	rto = endpoint->srtt_us + (variation < TCP_RTO_VARIANCE_MIN_US ? TCP_RTO_VARIANCE_MIN_US : variation);
	return rto > TCP_RTO_MAX_US ? TCP_RTO_MAX_US : (uint32_t)rto;
}
