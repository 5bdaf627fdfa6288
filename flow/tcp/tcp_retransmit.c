/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classifies retransmissions by what caused them: a timer, or an ACK.  The evidence, in order: the data was
 * acknowledged already; the sender is recovering from a timeout, or from a loss that SACK blocks or duplicate ACKs
 * reported; the time since it last received anything.  A timer expires when nothing was received for a while; every
 * other retransmission follows an ACK within a round trip.
 */
#include "flow/tcp/tcp_loss.h"

/* Shortest wait of a timer that competes with other evidence.  Linux and most others use at least 200 ms after a round
 * trip (TCP_RTO_MIN); the difference allows for clocks and delayed captures. */
#define RETRANSMIT_SILENCE_MIN_US 150000u

/* A retransmission sooner than this is not caused by any timer. */
#define RETRANSMIT_TIMER_MIN_US 1000u

/* A SYN,ACK repeated this soon after a repeated SYN is its answer. */
#define SYN_ACK_REPLY_MAX_US 100000u

struct retransmit_class {
	enum tcp_retransmit_kind kind;
	bool rto_fired; /* the retransmission timer expired */
};

struct retransmit_evidence {
	struct send_log_result last;
	uint32_t seq, end_seq;
	uint32_t elapsed_us; /* time since `seq` was last sent, 0 unknown */
	uint32_t wait_us;    /* `elapsed_us`, or how long the sender has waited at least, 0 unknown */
	bool timer_due;	     /* the first outstanding segment was sent a retransmission timeout ago */
	bool silent;	     /* nothing was received for so long that only a timer can be the cause */
	bool loss_indicated; /* SACK blocks or duplicate ACKs report a loss */
	bool rack_lost;	     /* data sent later has arrived (RACK, RFC 8985) */
	bool lost_again;     /* rack_lost, and sent last after the last timeout: the retransmission was lost, too */
};

static uint32_t
retransmit_silence_us(const struct tcp_endpoint *e)
{
	uint32_t margin = e->srtt_us / 4; /* srtt is at most 2^31 */

	return e->srtt_us + (margin < RETRANSMIT_SILENCE_MIN_US ? RETRANSMIT_SILENCE_MIN_US : margin);
}

/* Whether the sender spaces its segments evenly (pacing), this one among them: an ACK then causes no retransmission at
 * once. */
static bool
retransmit_is_paced(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	const struct send_log_entry *last = send_log_entry_at(pools, ctx->ep->log_tail);
	const struct send_log_entry *previous = last == NULL ? NULL : send_log_entry_before(pools, last);
	uint32_t gap_us, last_gap_us;

	if (previous == NULL)
		return false;
	gap_us = tcp_us_since(last->us, ctx->us);
	last_gap_us = tcp_us_since(previous->us, last->us);
	return last_gap_us >= RETRANSMIT_TIMER_MIN_US && gap_us - last_gap_us + last_gap_us / 64 <= last_gap_us / 32;
}

/* Whether the timer of the first outstanding segment has expired although ACKs still arrive.  A retransmission that an
 * ACK causes follows it at once. */
static bool
retransmit_timer_is_due(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss,
			const struct retransmit_evidence *v)
{
	uint32_t rto_us = tcp_rto_us(ctx->ep), advance_us = ctx->us - loss->advance_us;
	uint32_t idle_us = advance_us >= rto_us ? 0 : ctx->ep->srtt_us / 2;

	/* Linux counts from the ACK that advanced una, or from the transmission. */
	return v->seq == ctx->ep->una && v->last.found && v->elapsed_us >= rto_us && advance_us >= rto_us / 4 * 3 &&
	       ctx->us - loss->last_ack_us >= idle_us + RETRANSMIT_TIMER_MIN_US && !retransmit_is_paced(ctx);
}

static struct retransmit_evidence
retransmit_collect_evidence(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss, uint32_t seq,
			    uint32_t end_seq)
{
	const struct tcp_endpoint *e = ctx->ep;
	struct retransmit_evidence v = {.seq = seq, .end_seq = end_seq, .last = ctx->repeat.log};
	uint32_t silence_us = retransmit_silence_us(e);

	if (v.last.found)
		v.elapsed_us = tcp_us_since(v.last.last_us, ctx->us);
	v.wait_us = v.last.found ? v.elapsed_us | 1 : ctx->repeat.since_us;
	v.rack_lost = v.last.found && loss->rack_valid && tcp_seq_before(v.last.last_us, loss->rack_xmit_us);
	v.lost_again = v.rack_lost && !tcp_seq_before(v.last.last_us, loss->last_rto_us);
	v.loss_indicated = tcp_loss_is_lost(e, loss, seq) ||
			   (loss->state == TCP_CONGESTION_RECOVERY && tcp_seq_before(seq, loss->recovery_point)) ||
			   v.rack_lost;
	v.timer_due = retransmit_timer_is_due(ctx, loss, &v);
	v.silent = ctx->us - loss->last_ack_us >= silence_us && (!v.last.found || v.elapsed_us >= silence_us);
	return v;
}

/* --- SYN and SYN,ACK --- */

static struct retransmit_class
retransmit_classify_syn(const struct tcp_segment_ctx *ctx)
{
	const struct send_log_entry *peer = send_log_entry_at(flow_table_tcp_pools(ctx->table), ctx->peer->log_tail);
	bool answers = (ctx->header->flags & TCP_ACK) != 0 && peer != NULL && (peer->prev_and_retransmitted & 1) != 0 &&
		       ctx->us - peer->us < SYN_ACK_REPLY_MAX_US;

	return (struct retransmit_class){RETRANSMIT_SYN, !answers};
}

/* --- data and FIN --- */

/*
 * No loss was reported, so a timer expired.  The timer of the tail-loss probe expires first and sends the last segment,
 * unless SACK is not in use (RFC 8985 section 7.2, Linux tcp_schedule_loss_probe).  Only if a tail-loss probe is
 * outstanding already, or was not possible, it is the retransmission timer, which sends the first segment.
 */
static struct retransmit_class
retransmit_classify_timer(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss,
			  const struct retransmit_evidence *v)
{
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;
	uint32_t quick = e->srtt_us > RETRANSMIT_TIMER_MIN_US ? e->srtt_us : RETRANSMIT_TIMER_MIN_US;
	bool refused_in_syn = (e->flags & TCP_EP_ISS_KNOWN) != 0 && v->seq == e->iss + 1 && v->last.count == 1 &&
			      v->last.first_seq == e->iss && v->last.found;
	bool sack = (e->flags & peer->flags & TCP_EP_SACK_OFFERED) != 0;

	bool may_be_tlp = sack && !loss->tlp_outstanding && !tcp_seq_before(v->end_seq, e->nxt) &&
			  loss->state == TCP_CONGESTION_OPEN &&
			  tcp_state_is_synchronized((enum tcp_state)e->state);

	/* Nothing but a tail-loss probe sends only the last of several outstanding segments. */
	if (may_be_tlp && v->seq != e->una && v->wait_us >= RETRANSMIT_TIMER_MIN_US)
		return (struct retransmit_class){RETRANSMIT_TAIL_LOSS_PROBE, false};
	/* Data in a SYN of which only the SYN was acknowledged (RFC 7413 section 4.2.2), or a reduced path MTU. */
	if (refused_in_syn || (v->wait_us != 0 && v->wait_us < quick))
		return (struct retransmit_class){RETRANSMIT_FAST, false};
	if (may_be_tlp)
		return (struct retransmit_class){RETRANSMIT_TAIL_LOSS_PROBE, false};
	/* No retransmission timer is so short: a loss was reported by ACKs that prove less or were not captured. */
	if (v->wait_us != 0 && v->wait_us < RETRANSMIT_SILENCE_MIN_US)
		return (struct retransmit_class){RETRANSMIT_FAST, false};
	return (struct retransmit_class){RETRANSMIT_TIMEOUT, true};
}

static struct retransmit_class
retransmit_classify(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss, const struct retransmit_evidence *v)
{
	const struct tcp_endpoint *e = ctx->ep;

	if (!tcp_seq_before(e->una, v->end_seq) || tcp_loss_is_sacked(loss, v->seq, v->end_seq))
		return (struct retransmit_class){RETRANSMIT_SPURIOUS, false};
	if (loss->state != TCP_CONGESTION_LOSS && !v->loss_indicated)
		return retransmit_classify_timer(ctx, loss, v);
	/* The timer sends the first outstanding segment, which is another one if ACKs were not captured. */
	if ((v->silent && (v->seq == e->una || loss->state == TCP_CONGESTION_LOSS)) || v->timer_due)
		return (struct retransmit_class){RETRANSMIT_TIMEOUT, true};
	/* In recovery, or what the timer declared lost before: an ACK makes the sender go on. */
	return (struct retransmit_class){RETRANSMIT_FAST, false};
}

/* --- the sender's congestion state --- */

/* RFC 5681 equation 4, with two segments of 1460 bytes if the MSS was not captured. */
static uint32_t
retransmit_ssthresh(const struct tcp_segment_ctx *ctx, uint32_t mss)
{
	uint32_t half = (ctx->ep->nxt - ctx->ep->una) / 2, least = 2 * (mss != 0 ? mss : 1460);

	return half < least ? least : half;
}

static void
retransmit_update_state(struct tcp_segment_ctx *ctx, struct tcp_loss *loss, const struct retransmit_evidence *v,
			struct retransmit_class class)
{
	struct tcp_estimates estimates;
	struct tcp_endpoint *e = ctx->ep;
	/* Linux leaves the recovery from a timeout for fast recovery if a retransmission was lost, too. */
	bool reported = loss->state == TCP_CONGESTION_OPEN ? v->loss_indicated :
							     loss->state == TCP_CONGESTION_LOSS && v->lost_again;
	bool lost = class.rto_fired || (class.kind == RETRANSMIT_FAST && reported);

	if (class.kind == RETRANSMIT_TAIL_LOSS_PROBE) {
		loss->tlp_outstanding = true;
		loss->tlp_end_seq = e->nxt;
	}
	/* Linux also checks for a spurious timeout when the timer expires again for the same segment
	 * (tcp_enter_loss). */
	loss->frto_pending = class.rto_fired && (loss->state == TCP_CONGESTION_OPEN ||
						 (loss->state == TCP_CONGESTION_LOSS && v->last.found &&
						  v->last.last_us == loss->last_rto_us));
	if (loss->state == TCP_CONGESTION_OPEN)
		loss->eifel_tsval = ctx->header->tsval;
	if (class.rto_fired)
		loss->last_rto_us = ctx->us;
	if (lost) {
		tcp_estimate_congestion(ctx->table, ctx->flow, ctx->endpoint, &estimates);
		if (loss->state == TCP_CONGESTION_OPEN)
			loss->ssthresh = retransmit_ssthresh(ctx, estimates.mss);
		loss->cwnd = class.rto_fired ? estimates.mss : loss->ssthresh;
		loss->state = class.rto_fired ? TCP_CONGESTION_LOSS : TCP_CONGESTION_RECOVERY;
		loss->recovery_point = e->nxt;
		loss->tlp_outstanding = false;
	}
	loss->high_rxt = v->end_seq;
	loss->last_ack_us = class.rto_fired ? ctx->us : loss->last_ack_us;
	if ((ctx->header->options & TCP_OPTION_TIMESTAMPS) != 0) {
		loss->retrans_end_seq = v->end_seq;
		loss->retrans_tsval = ctx->header->tsval;
		loss->retrans_us = ctx->us | 1; /* 0 means none */
	}
	e->slow_reasons |= TCP_SLOW_LOSS;
}

/* The receiver had reported the data at SND.UNA by SACK, but an ACK since ends there: it has discarded what it had (RFC
 * 2018 section 8), and the sender turns off what was reported. */
static void
retransmit_drop_reneged(const struct tcp_segment_ctx *ctx, struct tcp_loss *loss)
{
	if (loss->sacked_count != 0 && !tcp_seq_before(ctx->ep->una, loss->sacked[0].begin))
		loss->sacked_count = 0;
}

void
tcp_loss_on_retransmission(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq)
{
	struct tcp_loss *loss = &loss_pool_acquire(ctx->table, ctx->flow)->end[ctx->endpoint];
	struct tcp_endpoint *e = ctx->ep;
	struct retransmit_evidence v;
	bool syn = (ctx->header->flags & TCP_SYN) != 0;
	struct retransmit_class class;
	struct retransmission retransmission;
	struct flow_event *event;

	retransmit_drop_reneged(ctx, loss);
	v = retransmit_collect_evidence(ctx, loss, seq, end_seq);
	class = syn ? retransmit_classify_syn(ctx) : retransmit_classify(ctx, loss, &v);
	retransmission = (struct retransmission){
		.kind = class.kind,
		.count = v.last.found ? v.last.count + 1 : 2,
		.elapsed_us = v.elapsed_us,
	};
	e->flags |= TCP_EP_LAST_RETRANSMITTED;
	tcp_count_retransmission(ctx->table, ctx->flow, ctx->endpoint);
	record_count_resent(ctx->table, ctx->flow, class.kind);
	tcp_rtt_cancel(e);
	if (!syn)
		retransmit_update_state(ctx, loss, &v, class);
	tcp_log_segment(ctx, seq, end_seq, true);
	if (ctx->suppress_events)
		return;
	if (class.rto_fired) {
		event = flow_events_add(ctx->events, EVENT_TCP_TIMEOUT, ctx->endpoint, ctx->now);
		event->timeout = TIMEOUT_RETRANSMIT;
		event->retransmission = retransmission;
	}
	flow_events_add(ctx->events, EVENT_TCP_RETRANSMIT, ctx->endpoint, ctx->now)->retransmission =
	    retransmission;
}
