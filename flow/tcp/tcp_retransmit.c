/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classifies retransmissions by what caused them: a timer, or an ACK.  The evidence, in order: the data was
 * acknowledged already; the sender is recovering from a timeout, or from a loss that SACK blocks or duplicate ACKs
 * reported; the time since it last received anything.  A timer expires when nothing was received for a while; every
 * other retransmission follows an ACK within a round trip.
 */
#include "flow/tcp/tcp_internal.h"

/* Shortest wait of a timer that competes with other evidence.  Linux and most others use at least 200 ms after a round
 * trip (TCP_RTO_MIN); the difference allows for clocks and delayed captures. */
#define RETRANSMIT_SILENCE_MIN_US 150000u

/* A retransmission sooner than this is not caused by any timer. */
#define RETRANSMIT_TIMER_MIN_US 1000u

/* The tail-loss probe of a lone segment waits for a delayed ACK, too: 200 ms (RFC 8985 section 7.2, WCDelAckT; Linux
 * TCP_RTO_MIN). */
#define RETRANSMIT_PROBE_DELAY_US 200000u

/* Longest tick of the clocks of senders in use. */
#define RETRANSMIT_TICK_US 10000u

/* The timer of the tail-loss probe while no round trip is known. */
#define RETRANSMIT_PROBE_INITIAL_US 1000000u

/* Linux adds 2 ms to the timer of the tail-loss probe of several segments (TCP_TIMEOUT_MIN_US). */
#define RETRANSMIT_PROBE_MIN_US 2000u

/* A SYN,ACK repeated this soon after a repeated SYN is its answer. */
#define SYN_ACK_REPLY_MAX_US 100000u

struct retransmit_class {
	enum tcp_retransmit_kind kind;
	bool rto_fired; /* the retransmission timer expired */
	bool undecided; /* a tail-loss probe, unless the sender lacks them: then its retransmission timer expired */
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
 * ACK causes follows it at once, or, if others may have been overtaken, within a round trip (RFC 8985 section 6.2). */
static bool
retransmit_timer_is_due(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss,
			const struct retransmit_evidence *v)
{
	uint32_t rto_us = tcp_rto_us(ctx->ep), advance_us = ctx->us - loss->advance_us;
	uint32_t idle_us = advance_us >= rto_us ? 0 : ctx->ep->srtt_us / 2;

	/* Linux counts from the ACK that advanced una, which may not be known, or from the transmission. */
	if (advance_us < rto_us / 4 * 3)
		idle_us = ctx->ep->srtt_us + RETRANSMIT_TICK_US * 5;
	return v->seq == ctx->ep->una && v->last.found && v->elapsed_us >= rto_us &&
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

static struct send_log_result
retransmit_find_syns(const struct tcp_segment_ctx *ctx)
{
	struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);

	pools->search_left = SEND_LOG_SEARCHES_MAX;
	return send_log_search(pools, ctx->peer, ctx->peer->iss);
}

uint32_t
tcp_syn_answer_us(const struct tcp_segment_ctx *ctx)
{
	struct send_log_result syn = retransmit_find_syns(ctx);
	uint32_t us;

	if (!syn.found || !ctx->repeat.log.found)
		return 0;
	us = tcp_us_since(syn.first_us, ctx->repeat.log.first_us);
	return us + us / 4 + RETRANSMIT_TICK_US;
}

bool
tcp_syn_ack_is_answer(const struct tcp_segment_ctx *ctx)
{
	struct send_log_result syn = retransmit_find_syns(ctx);
	uint32_t since_us;

	if (!syn.found || syn.count < 2)
		return false;
	since_us = tcp_us_since(syn.last_us, ctx->us);
	return since_us < SYN_ACK_REPLY_MAX_US ||
	       (ctx->repeat.log.count < syn.count && since_us <= tcp_syn_answer_us(ctx));
}

static struct retransmit_class
retransmit_classify_syn(const struct tcp_segment_ctx *ctx)
{
	bool answers = (ctx->header->flags & TCP_ACK) != 0 && tcp_syn_ack_is_answer(ctx);

	return (struct retransmit_class){.kind = RETRANSMIT_SYN, .rto_fired = !answers};
}

/* --- data and FIN --- */

/*
 * The tail-loss probe (RFC 8985 section 7, Linux tcp_schedule_loss_probe) sends the last segment after two round trips,
 * and the delay of an ACK if it is the only one outstanding, but never later than the retransmission timer, which sends
 * the first segment.  With one segment outstanding Linux has both timers expire at the same time, so that nothing but
 * the time between later transmissions, or what the sender does with several segments outstanding, shows whether it has
 * tail-loss probes at all.
 */

/* Whether the segment is the first of several that are outstanding. */
static bool
retransmit_is_first_of_several(const struct tcp_segment_ctx *ctx, uint32_t seq)
{
	struct send_log_result last;

	if (seq != ctx->ep->una)
		return false;
	last = send_log_search(flow_table_tcp_pools(ctx->table), ctx->ep, ctx->ep->nxt - 1);
	return last.found && tcp_seq_before(seq, last.first_seq);
}

/* Whether the timer of a tail-loss probe cannot have expired yet.  If several segments are outstanding it may be cut
 * short by the retransmission timer, which began with the first of them, and the round trip may have become shorter. */
static bool
retransmit_probe_is_early(const struct tcp_segment_ctx *ctx, const struct retransmit_evidence *v)
{
	const struct tcp_endpoint *e = ctx->ep;
	uint32_t probe_us = e->srtt_us / 4 * 7, rto_us = e->srtt_us + RETRANSMIT_SILENCE_MIN_US;
	uint32_t least_us = probe_us < rto_us ? probe_us : rto_us;

	if (v->seq != e->una || least_us < RETRANSMIT_TIMER_MIN_US)
		least_us = RETRANSMIT_TIMER_MIN_US;
	return v->wait_us != 0 && v->wait_us < least_us;
}

/* The latest transmission of something else than `seq`; NULL if the send log has no other. */
static const struct send_log_entry *
retransmit_last_other(const struct tcp_segment_ctx *ctx, uint32_t seq)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	const struct send_log_entry *entry = send_log_entry_at(pools, ctx->ep->log_tail);
	unsigned examined;

	for (examined = 0; entry != NULL && send_log_entry_covers(entry, seq); examined++)
		entry = examined < SEND_LOG_SEARCH_MAX ? send_log_entry_before(pools, entry) : NULL;
	return entry;
}

/* Whether the peer sent data between the transmission `other` and the segment, a round trip after the former: that has
 * acknowledged it. */
static bool
retransmit_was_answered(const struct tcp_segment_ctx *ctx, const struct send_log_entry *other,
			const struct retransmit_evidence *v)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	const struct send_log_entry *answer = send_log_entry_at(pools, ctx->peer->log_tail);
	uint32_t least_us = ctx->ep->srtt_us / 4 * 3;

	return answer != NULL && tcp_seq_before(other->us + least_us, answer->us) &&
	       tcp_seq_before(answer->us, v->last.last_us);
}

/* Whether so much time has passed since the segment was sent, and since the ACK of anything sent before, that the timer
 * of a tail-loss probe has expired long ago, even if the sender's first round trip was twice as long because it had to
 * resolve an address, and it rounds its timers up. */
static bool
retransmit_probe_is_late(const struct tcp_segment_ctx *ctx, const struct tcp_loss *loss,
			 const struct retransmit_evidence *v)
{
	const struct send_log_entry *other = retransmit_last_other(ctx, v->seq);
	/* On both sides of the capture point. */
	bool known = ctx->ep->srtt_us != 0 && ctx->peer->srtt_us != 0;
	uint64_t round_trip_us = (uint64_t)ctx->ep->srtt_us + ctx->peer->srtt_us;
	uint64_t ack_us = round_trip_us + RETRANSMIT_PROBE_DELAY_US, least_us, since_us;
	uint32_t wait_us = v->elapsed_us;

	/* With timestamps the sender's first round trip may have begun with the first SYN. */
	if (loss->syn_resent || !v->last.found)
		return false;
	least_us = 4 * round_trip_us + RETRANSMIT_PROBE_DELAY_US / 4 * 5;
	if (!known && least_us < RETRANSMIT_PROBE_INITIAL_US / 4 * 5)
		least_us = RETRANSMIT_PROBE_INITIAL_US / 4 * 5;
	/* An ACK restarts the timer.  If it was not noted, it has come at the latest with the delay of an ACK. */
	if (other != NULL && !retransmit_was_answered(ctx, other, v)) {
		since_us = tcp_us_since(other->us, ctx->us);
		since_us = since_us < ack_us ? 0 : since_us - ack_us;
		wait_us = since_us < wait_us ? (uint32_t)since_us : wait_us;
	}
	if (loss->advance_us != 0 && tcp_us_since(loss->advance_us, ctx->us) < wait_us)
		wait_us = tcp_us_since(loss->advance_us, ctx->us);
	return wait_us > least_us;
}

/* Whether the time since the lone segment was sent is that of no tail-loss probe: not two round trips, and neither that
 * with the delay of an ACK nor the retransmission timer that limits it. */
static bool
retransmit_probe_is_odd(const struct tcp_segment_ctx *ctx, const struct retransmit_evidence *v)
{
	uint32_t srtt_us = ctx->ep->srtt_us;

	return v->seq == ctx->ep->una && v->last.found && v->elapsed_us >= RETRANSMIT_SILENCE_MIN_US &&
	       v->elapsed_us / 2 > srtt_us + RETRANSMIT_TICK_US * 2 &&
	       v->elapsed_us + RETRANSMIT_TICK_US / 2 < RETRANSMIT_PROBE_DELAY_US + srtt_us / 2;
}

/* Whether the retransmission timer expired for the first of several segments: the timer of a tail-loss probe expires
 * before.  Its probe may have been the last segment, if that was new, unless they were sent within two round trips. */
static bool
retransmit_probe_was_due(const struct tcp_segment_ctx *ctx, const struct retransmit_evidence *v)
{
	const struct send_log_entry *tail = send_log_entry_at(flow_table_tcp_pools(ctx->table), ctx->ep->log_tail);
	uint32_t spread_us = ctx->ep->srtt_us / 4 * 7;

	if (v->last.count != 1 || tail == NULL)
		return false;
	return tcp_us_since(v->last.last_us, tail->us) <
	       (spread_us < RETRANSMIT_PROBE_MIN_US ? RETRANSMIT_PROBE_MIN_US : spread_us);
}

/* The retransmission timer doubles with each timeout; after a tail-loss probe it expires as late as the probe did, or
 * later if the probe did not wait for it: Linux begins with a longer one if it remembers a longer round trip. */
static void
retransmit_compare_intervals(const struct tcp_segment_ctx *ctx, struct tcp_loss *loss,
			     const struct retransmit_evidence *v)
{
	uint32_t first_us;

	if (!loss->tlp_outstanding || !loss->tlp_undecided || !v->last.found || v->last.count != 2 ||
	    v->seq != ctx->ep->una)
		return;
	first_us = tcp_us_since(v->last.first_us, v->last.last_us);
	if (v->elapsed_us <= first_us + first_us / 8 * 3)
		loss->tlp_proved = true;
	else if (v->elapsed_us >= first_us + first_us / 8 * 5 && v->elapsed_us / 5 <= first_us / 2 &&
		 first_us >= tcp_rto_us(ctx->ep) / 8 * 7)
		loss->tlp_refuted = true;
}

/* No loss was reported, so a timer expired. */
static struct retransmit_class
retransmit_classify_timer(const struct tcp_segment_ctx *ctx, struct tcp_loss *loss, const struct retransmit_evidence *v)
{
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;
	uint32_t quick = e->srtt_us > RETRANSMIT_TIMER_MIN_US ? e->srtt_us : RETRANSMIT_TIMER_MIN_US;
	bool refused_in_syn = (e->flags & TCP_EP_ISS_KNOWN) != 0 && v->seq == e->iss + 1 && v->last.count == 1 &&
			      v->last.first_seq == e->iss && v->last.found;
	bool sack = (e->flags & peer->flags & TCP_EP_SACK_OFFERED) != 0;
	bool probes = sack && !loss->tlp_outstanding && loss->state == TCP_CONGESTION_OPEN &&
		      tcp_state_is_synchronized((enum tcp_state)e->state);
	bool first_of_several = retransmit_is_first_of_several(ctx, v->seq);
	bool early = retransmit_probe_is_early(ctx, v);
	bool may_be_tlp = probes && !first_of_several && !tcp_seq_before(v->end_seq, e->nxt) && !early &&
			  !retransmit_probe_is_late(ctx, loss, v);

	/* Nothing but a tail-loss probe sends only the last of several outstanding segments. */
	if (may_be_tlp && v->seq != e->una && v->wait_us != 0) {
		loss->tlp_proved = true;
		return (struct retransmit_class){.kind = RETRANSMIT_TAIL_LOSS_PROBE};
	}
	/* Data in a SYN of which only the SYN was acknowledged (RFC 7413 section 4.2.2), or a reduced path MTU. */
	if (refused_in_syn || (v->wait_us != 0 && v->wait_us < quick))
		return (struct retransmit_class){.kind = RETRANSMIT_FAST};
	if (may_be_tlp && (loss->tlp_proved || (!loss->tlp_refuted && !retransmit_probe_is_odd(ctx, v))))
		return (struct retransmit_class){.kind = RETRANSMIT_TAIL_LOSS_PROBE, .undecided = v->last.found};
	/* No retransmission timer is so short: a loss was reported by ACKs that prove less or were not captured. */
	if (v->wait_us != 0 && v->wait_us < RETRANSMIT_SILENCE_MIN_US)
		return (struct retransmit_class){.kind = RETRANSMIT_FAST};
	retransmit_compare_intervals(ctx, loss, v);
	if (probes && v->last.found && v->seq == e->una && !early &&
	    (!first_of_several || retransmit_probe_was_due(ctx, v)))
		loss->tlp_refuted = true;
	return (struct retransmit_class){.kind = RETRANSMIT_TIMEOUT, .rto_fired = true};
}

static struct retransmit_class
retransmit_classify(const struct tcp_segment_ctx *ctx, struct tcp_loss *loss, const struct retransmit_evidence *v)
{
	const struct tcp_endpoint *e = ctx->ep;

	if (!tcp_seq_before(e->una, v->end_seq) || tcp_loss_is_sacked(loss, v->seq, v->end_seq))
		return (struct retransmit_class){.kind = RETRANSMIT_SPURIOUS};
	if (loss->state != TCP_CONGESTION_LOSS && !v->loss_indicated)
		return retransmit_classify_timer(ctx, loss, v);
	/* The timer sends the first outstanding segment, which is another one if ACKs were not captured. */
	if ((v->silent && (v->seq == e->una || loss->state == TCP_CONGESTION_LOSS)) || v->timer_due)
		return (struct retransmit_class){.kind = RETRANSMIT_TIMEOUT, .rto_fired = true};
	/* In recovery, or what the timer declared lost before: an ACK makes the sender go on. */
	return (struct retransmit_class){.kind = RETRANSMIT_FAST};
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
		loss->tlp_undecided = class.undecided;
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
	else
		loss->syn_resent = true;
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
