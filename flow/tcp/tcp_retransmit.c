/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classifies retransmissions.  The evidence, in order: the data was acknowledged already; the sender is recovering from
 * a timeout, or from a loss that SACK blocks or duplicate ACKs reported; the time since it last received anything.  A
 * timer expires in silence; every other retransmission follows an ACK within a round trip.
 */
#include "flow/tcp/tcp_loss.h"

/* Shortest wait of a timer that competes with other evidence.  Linux and most others use at least 200 ms after a round
 * trip (TCP_RTO_MIN); the difference allows for clocks and delayed captures. */
#define LEAST_PATIENCE_US 150000u

/* A retransmission sooner than this is not caused by any timer. */
#define QUICKEST_TIMER_US 1000u

/* A SYN,ACK repeated this soon after a repeated SYN is its answer. */
#define ANSWER_US 100000u

struct verdict {
	enum retransmit_kind kind;
	bool timer; /* the retransmission timer expired */
};

struct evidence {
	struct log_answer last;
	uint32_t seq, end;
	uint32_t elapsed; /* time since it was last sent, 0 unknown */
	bool silent;	  /* silence so long that only a timer can be the cause */
	bool told;	  /* SACK blocks or duplicate ACKs report a loss */
	bool overtaken;	  /* data sent later has arrived (RACK, RFC 8985) */
};

static uint32_t
patience_us(const struct tcp_end *e)
{
	uint32_t rounds = e->srtt_us + e->srtt_us / 4; /* srtt is at most 2^31 */

	return rounds < LEAST_PATIENCE_US ? LEAST_PATIENCE_US : rounds;
}

static struct evidence
gather(const struct tcp_step *step, const struct tcp_loss *loss, uint32_t seq, uint32_t end)
{
	const struct tcp_end *e = step->e;
	struct evidence v = {.seq = seq, .end = end, .last = log_search(flow_table_tcp(step->table), e, seq)};
	uint32_t patience = patience_us(e);

	if (v.last.seen)
		v.elapsed = step->us - v.last.us;
	v.overtaken = v.last.seen && loss->delivered_known && seq_before(v.last.us, loss->delivered_us);
	v.told = tcp_loss_evidence(e, loss, seq) ||
		 (loss->mode == LOSS_MODE_RECOVERY && seq_before(seq, loss->recover)) || v.overtaken;
	v.silent = step->us - loss->ack_us >= patience && (!v.last.seen || v.elapsed >= patience);
	return v;
}

/* --- SYN and SYN,ACK --- */

static struct verdict
judge_syn(const struct tcp_step *step)
{
	const struct log_entry *peer = log_entry(flow_table_tcp(step->table), step->peer->sent);
	bool answers = (step->t->flags & TCP_ACK) != 0 && peer != NULL && (peer->link & 1) != 0 &&
		       step->us - peer->us < ANSWER_US;

	return (struct verdict){RETRANSMIT_SYN, !answers};
}

/* --- data and FIN --- */

/*
 * No loss was reported, so a timer expired.  The probe timer expires first and sends the last segment, unless SACK is
 * not in use (RFC 8985 section 7.2, Linux tcp_schedule_loss_probe).  Only if a probe is outstanding already, or was not
 * possible, it is the retransmission timer, which sends the first segment.
 */
static struct verdict
judge_untold(const struct tcp_step *step, const struct tcp_loss *loss, const struct evidence *v)
{
	const struct tcp_end *e = step->e, *peer = step->peer;
	uint32_t quick = e->srtt_us > QUICKEST_TIMER_US ? e->srtt_us : QUICKEST_TIMER_US;
	bool refused_in_syn = (e->flags & TCP_END_ISS) != 0 && v->seq == e->iss + 1 && v->last.count == 1 &&
			      v->last.begin == e->iss && v->last.seen;
	bool sack = (e->flags & peer->flags & TCP_END_SACK) != 0;

	/* Data in a SYN of which only the SYN was acknowledged (RFC 7413 section 4.2.2), or a reduced path MTU. */
	if (refused_in_syn || (v->last.seen && v->elapsed < quick))
		return (struct verdict){RETRANSMIT_FAST, false};
	if (sack && !loss->probed && !seq_before(v->end, e->nxt) && loss->mode == LOSS_MODE_OPEN &&
	    is_synchronized((enum tcp_state)e->state))
		return (struct verdict){RETRANSMIT_PROBE, false};
	return (struct verdict){RETRANSMIT_TIMEOUT, true};
}

static struct verdict
judge(const struct tcp_step *step, const struct tcp_loss *loss, const struct evidence *v)
{
	const struct tcp_end *e = step->e;

	if (!seq_before(e->una, v->end) || tcp_loss_is_sacked(loss, v->seq, v->end))
		return (struct verdict){RETRANSMIT_SPURIOUS, false};
	if (loss->mode == LOSS_MODE_LOSS) {
		/* The retransmission was overtaken, so it was lost too; Linux continues in fast recovery. */
		if (v->overtaken && !seq_before(v->last.us, loss->timer_us) && !v->silent)
			return (struct verdict){RETRANSMIT_FAST, false};
		return (struct verdict){RETRANSMIT_TIMEOUT, v->seq == e->una && v->silent};
	}
	if (!v->told)
		return judge_untold(step, loss, v);
	if (v->seq == e->una && v->silent)
		return (struct verdict){RETRANSMIT_TIMEOUT, true};
	return (struct verdict){RETRANSMIT_FAST, false};
}

/* --- the sender's mode --- */

/* RFC 5681 equation 4, with two segments of a usual size where the MSS was not seen. */
static uint32_t
half_of_flight(const struct tcp_step *step, uint32_t mss)
{
	uint32_t half = (step->e->nxt - step->e->una) / 2, least = 2 * (mss != 0 ? mss : 1460);

	return half < least ? least : half;
}

static void
follow(struct tcp_step *step, struct tcp_loss *loss, const struct evidence *v, struct verdict verdict)
{
	struct tcp_estimates estimates;
	struct tcp_end *e = step->e;
	bool lost = verdict.timer ||
		    (verdict.kind == RETRANSMIT_FAST && v->told && loss->mode != LOSS_MODE_RECOVERY);

	if (verdict.kind == RETRANSMIT_PROBE) {
		loss->probed = true;
		loss->probe_end = e->nxt;
	}
	/* Linux also checks for a spurious timeout when the timer expires again for the same segment
	 * (tcp_enter_loss). */
	loss->frto = verdict.timer && (loss->mode == LOSS_MODE_OPEN || (loss->mode == LOSS_MODE_LOSS && v->last.seen &&
									v->last.us == loss->timer_us));
	if (loss->mode == LOSS_MODE_OPEN)
		loss->first_tsval = step->t->tsval;
	if (verdict.timer)
		loss->timer_us = step->us;
	if (lost) {
		tcp_estimate(step->table, step->flow, step->end, &estimates);
		if (loss->mode == LOSS_MODE_OPEN)
			loss->ssthresh = half_of_flight(step, estimates.mss);
		loss->cwnd = verdict.timer ? estimates.mss : loss->ssthresh;
		loss->mode = verdict.timer ? LOSS_MODE_LOSS : LOSS_MODE_RECOVERY;
		loss->recover = e->nxt;
		loss->probed = false;
	}
	loss->next = v->end;
	loss->ack_us = verdict.timer ? step->us : loss->ack_us;
	if ((step->t->options & TCP_OPTION_TIMESTAMPS) != 0) {
		loss->again_end = v->end;
		loss->again_tsval = step->t->tsval;
		loss->again_us = step->us | 1; /* 0 means none */
	}
	e->trouble |= TCP_TROUBLE_LOSS;
}

void
tcp_loss_sent_again(struct tcp_step *step, uint32_t seq, uint32_t end)
{
	struct tcp_loss *loss = &detail_need(step->table, step->flow)->end[step->end];
	struct tcp_end *e = step->e;
	struct evidence v = gather(step, loss, seq, end);
	bool syn = (step->t->flags & TCP_SYN) != 0;
	struct verdict verdict = syn ? judge_syn(step) : judge(step, loss, &v);
	struct retransmission what = {
		.kind = verdict.kind,
		.count = v.last.seen ? v.last.count + 1 : 2,
		.elapsed_us = v.elapsed,
	};
	struct flow_event *event;

	e->flags |= TCP_END_RETRANSMIT;
	e->retransmits++;
	rtt_spoil(e);
	if (!syn)
		follow(step, loss, &v, verdict);
	log_append(flow_table_tcp(step->table), e, seq, end, step->us, true);
	if (step->quiet)
		return;
	if (verdict.timer) {
		event = event_add(step->events, EVENT_TCP_TIMEOUT, step->end, step->now);
		event->timeout = TIMEOUT_RETRANSMIT;
		event->retransmission = what;
	}
	event_add(step->events, EVENT_TCP_RETRANSMIT, step->end, step->now)->retransmission = what;
}
