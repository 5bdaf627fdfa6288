/* SPDX-License-Identifier: BSD-2-Clause */
/* Evidence of a sender's losses: ACKs, SACK blocks (RFC 2018), D-SACK (RFC 2883) and gaps in the capture. */
#include "flow/tcp/tcp_loss.h"

/* Frames captured on several queues are reordered by up to this much; tshark uses the same figure. */
#define REORDERED_US 3000u

/* RFC 6928: initial congestion window in segments. */
#define INITIAL_WINDOW 10u

static struct tcp_loss *
loss_need(struct tcp_step *step)
{
	return &detail_need(step->table, step->flow)->end[step->end];
}

static struct tcp_loss *
loss_of(const struct tcp_step *step)
{
	struct loss_detail *detail = detail_of(flow_table_tcp(step->table), flow_cold(step->table, step->flow));

	return detail == NULL ? NULL : &detail->end[step->end];
}

/* --- SACK blocks --- */

static void
remove_sacked(struct tcp_loss *loss, unsigned at)
{
	loss->sacked_count--;
	memmove(&loss->sacked[at], &loss->sacked[at + 1], (loss->sacked_count - at) * sizeof loss->sacked[0]);
}

/* Adds [begin, end) to the SACKed ranges and merges adjacent ones.  If the array is full the lowest range is dropped:
 * it is acknowledged next. */
static void
add_sacked(struct tcp_loss *loss, uint32_t begin, uint32_t end)
{
	unsigned at = 0;

	while (at < loss->sacked_count) {
		struct sequence_range *r = &loss->sacked[at];

		if (seq_before(end, r->begin) || seq_before(r->end, begin)) {
			at++;
			continue;
		}
		begin = seq_before(r->begin, begin) ? r->begin : begin;
		end = seq_max(r->end, end);
		remove_sacked(loss, at);
	}
	if (loss->sacked_count == LOSS_SACKED_MAX)
		remove_sacked(loss, 0);
	for (at = 0; at < loss->sacked_count && seq_before(loss->sacked[at].begin, begin); at++)
		;
	memmove(&loss->sacked[at + 1], &loss->sacked[at], (loss->sacked_count - at) * sizeof loss->sacked[0]);
	loss->sacked[at] = (struct sequence_range){begin, end};
	loss->sacked_count++;
}

static void
drop_acknowledged(struct tcp_loss *loss, uint32_t una)
{
	while (loss->sacked_count != 0 && !seq_before(una, loss->sacked[0].end))
		remove_sacked(loss, 0);
	if (loss->sacked_count != 0 && seq_before(loss->sacked[0].begin, una))
		loss->sacked[0].begin = una;
}

/* Records that the byte `seq` has arrived. */
static void
note_delivered(struct tcp_step *step, struct tcp_loss *loss, uint32_t seq)
{
	struct log_answer last = log_search(flow_table_tcp(step->table), step->e, seq);

	if (!last.seen || (loss->delivered_known && !seq_before(loss->delivered_us, last.us)))
		return;
	loss->delivered_known = true;
	loss->delivered_us = last.us;
}

/* Whether the arrival of byte `seq` shows that the timer expired too early: the byte was sent before the timeout and
 * not again (F-RTO, RFC 5682 step 3b). */
static bool
timer_was_wrong(const struct tcp_step *step, const struct tcp_loss *loss, uint32_t seq)
{
	return loss->mode == LOSS_MODE_LOSS && loss->frto && !seq_before(seq, loss->next) &&
	       seq_before(seq, loss->recover) && !tcp_loss_is_sacked(loss, seq, seq + 1) &&
	       log_search(flow_table_tcp(step->table), step->e, seq).count == 1;
}

/* Takes the SACK blocks beyond the ACK that lie within what was sent.  Others are D-SACK or invalid. */
static void
take_blocks(struct tcp_step *step, struct tcp_loss *loss)
{
	const struct tcp_layer *t = step->t;
	const struct tcp_end *e = step->e;
	unsigned i;

	for (i = 0; i < t->sacks; i++) {
		uint32_t begin = t->sack[i][0], end = t->sack[i][1];

		if (seq_before(begin, end) && seq_before(t->ack, end) && seq_before(e->una, end) &&
		    !seq_before(begin, e->una) && !seq_before(e->nxt, end)) {
			if (timer_was_wrong(step, loss, begin) || timer_was_wrong(step, loss, end - 1))
				loss->mode = LOSS_MODE_OPEN;
			add_sacked(loss, begin, end);
			if (i == 0)
				note_delivered(step, loss, end - 1);
		}
	}
}

bool
tcp_loss_is_sacked(const struct tcp_loss *loss, uint32_t seq, uint32_t end)
{
	unsigned i;

	for (i = 0; i < loss->sacked_count; i++)
		if (!seq_before(seq, loss->sacked[i].begin) && !seq_before(loss->sacked[i].end, end))
			return true;
	return false;
}

bool
tcp_loss_evidence(const struct tcp_end *e, const struct tcp_loss *loss, uint32_t seq)
{
	if (loss->sacked_count != 0 && seq_before(seq, loss->sacked[loss->sacked_count - 1].begin))
		return true;
	return (e->trouble & TCP_TROUBLE_DUPACKS) >= 3;
}

/* --- received ACKs --- */

static bool
both_sack(const struct tcp_step *step)
{
	return (step->e->flags & step->peer->flags & TCP_END_SACK) != 0;
}

/* The echoed timestamp shows which transmission an ACK answers (Eifel, RFC 3522; also round trips in spite of Karn's
 * rule, RFC 7323). */
static void
judge_echo(struct tcp_step *step, struct tcp_loss *loss)
{
	const struct tcp_layer *t = step->t;

	if (loss->again_us == 0 || (t->options & TCP_OPTION_TIMESTAMPS) == 0 ||
	    seq_before(step->e->una, loss->again_end))
		return;
	if (t->tsecr == loss->again_tsval)
		rtt_sample(step->e, step->us - loss->again_us);
	else if (seq_before(t->tsecr, loss->first_tsval))
		loss->mode = LOSS_MODE_OPEN; /* the original transmission had arrived */
	loss->again_us = 0;
}

static void
advance(struct tcp_step *step, struct tcp_loss *loss, uint32_t una)
{
	struct tcp_end *e = step->e;

	note_delivered(step, loss, una); /* the segment that filled the gap */
	note_delivered(step, loss, e->una - 1);

	e->trouble &= (uint8_t)~TCP_TROUBLE_DUPACKS;
	if (seq_before(loss->next, e->una) &&
	    (timer_was_wrong(step, loss, loss->next) || timer_was_wrong(step, loss, e->una - 1)))
		loss->mode = LOSS_MODE_OPEN;
	judge_echo(step, loss);
	if (loss->mode != LOSS_MODE_OPEN && !seq_before(e->una, loss->recover))
		loss->mode = LOSS_MODE_OPEN;
	drop_acknowledged(loss, e->una);
}

/*
 * Whether a tail-loss probe has been answered (RFC 8985 section 7.4.2, Linux tcp_process_tlp_ack).  An ACK of exactly
 * the probe's bytes may answer the original transmission, so the probe stays open; no other probe is sent meanwhile.
 */
static bool
probe_is_answered(const struct tcp_step *step, const struct tcp_loss *loss, bool advanced)
{
	const struct tcp_layer *t = step->t;
	bool block = (t->options & TCP_OPTION_SACK) != 0 && t->sacks != 0;

	if (seq_before(t->ack, loss->probe_end))
		return false;
	if (t->ack != loss->probe_end)
		return true;
	if (block)
		return t->sack[0][1] == loss->probe_end; /* D-SACK */
	return !advanced && step->len == 0 && (t->flags & TCP_FIN) == 0;
}

/* Returns the endpoint to the fast path if there is nothing left to watch. */
static void
calm_down(struct tcp_end *e, const struct tcp_loss *loss)
{
	if (loss->mode == LOSS_MODE_OPEN && loss->sacked_count == 0 && !loss->probed && !loss->edge_known)
		e->trouble &= (uint8_t)~TCP_TROUBLE_LOSS;
	else
		e->trouble |= TCP_TROUBLE_LOSS;
}

void
tcp_loss_acked(struct tcp_step *step, uint32_t una)
{
	const struct tcp_layer *t = step->t;
	struct tcp_end *e = step->e;
	bool sack = (t->options & TCP_OPTION_SACK) != 0 && t->sacks != 0;
	/* Duplicate ACK of RFC 5681 without its window condition, because the previous window is not kept.  With SACK
	 * the blocks tell. */
	bool duplicate = t->ack == una && e->una == una && una != e->nxt && step->len == 0 &&
			 (t->flags & TCP_FIN) == 0 && !both_sack(step);
	struct tcp_loss *loss;

	if (!sack && !duplicate && e->trouble == 0)
		return;
	loss = loss_need(step);
	loss->ack_us = step->us;
	if (loss->probed && probe_is_answered(step, loss, una != e->una))
		loss->probed = false;
	if (una != e->una)
		advance(step, loss, una);
	else if (duplicate && (e->trouble & TCP_TROUBLE_DUPACKS) != TCP_TROUBLE_DUPACKS)
		e->trouble++;
	if (sack)
		take_blocks(step, loss);
	if (loss->mode == LOSS_MODE_OPEN && loss->cwnd < e->nxt - e->una)
		loss->cwnd = e->nxt - e->una;
	calm_down(e, loss);
}

/* --- as a receiver --- */

void
tcp_loss_sacked(struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	bool sack = (t->options & TCP_OPTION_SACK) != 0 && t->sacks != 0;
	struct tcp_loss *loss = sack ? loss_need(step) : loss_of(step);
	unsigned i;

	if (loss == NULL || (!sack && !loss->edge_known))
		return;
	loss->edge_known = false;
	for (i = 0; sack && i < t->sacks; i++) {
		if (!seq_before(t->ack, t->sack[i][1]))
			continue; /* D-SACK */
		loss->sack_edge = loss->edge_known ? seq_max(loss->sack_edge, t->sack[i][1]) : t->sack[i][1];
		loss->edge_known = true;
	}
	calm_down(step->e, loss);
}

bool
tcp_loss_sack_edge(const struct tcp_step *step, uint32_t *edge)
{
	const struct tcp_loss *loss = loss_of(step);

	if (loss == NULL || !loss->edge_known)
		return false;
	*edge = loss->sack_edge;
	return true;
}

/* --- waiting FIN --- */

static bool
is_stamped(const struct tcp_step *step)
{
	return (step->t->options & TCP_OPTION_TIMESTAMPS) != 0;
}

void
tcp_loss_fin_waits(struct tcp_step *step)
{
	struct tcp_loss *loss;

	if (!is_stamped(step))
		return;
	loss = loss_need(step);
	loss->fin_waits = true;
	loss->fin_tsval = step->t->tsval;
	loss->fin_tsecr = step->t->tsecr;
}

/* Whether the detail holds nothing worth keeping. */
static bool
is_blank(const struct tcp_loss *loss)
{
	return loss->mode == LOSS_MODE_OPEN && loss->sacked_count == 0 && loss->missed_count == 0 && !loss->probed &&
	       !loss->delivered_known && !loss->edge_known && !loss->fin_waits && loss->cwnd == 0 &&
	       loss->ssthresh == 0 && loss->again_us == 0;
}

void
tcp_loss_fin_is_over(struct flow_table *table, struct flow *flow, unsigned end)
{
	struct loss_detail *detail = detail_of(flow_table_tcp(table), flow_cold(table, flow));

	if (detail == NULL || !detail->end[end].fin_waits)
		return;
	detail->end[end].fin_waits = false;
	/* Every connection has a FIN: a detail is not kept for that alone. */
	if (is_blank(&detail->end[0]) && is_blank(&detail->end[1]))
		detail_drop(table, flow);
}

bool
tcp_loss_melts_with_fin(const struct tcp_step *step)
{
	const struct tcp_layer *t = step->t;
	const struct tcp_loss *loss = loss_of(step);

	if ((t->options & TCP_OPTION_SACK) != 0)
		return false;
	if (!is_stamped(step))
		return true;
	return loss != NULL && loss->fin_waits && loss->fin_tsval == t->tsval && loss->fin_tsecr == t->tsecr;
}

/* --- gaps in the capture --- */

static void
forget_missed(struct tcp_loss *loss, unsigned at)
{
	loss->missed_count--;
	memmove(&loss->missed[at], &loss->missed[at + 1], (loss->missed_count - at) * sizeof loss->missed[0]);
	memmove(&loss->missed_us[at], &loss->missed_us[at + 1], (loss->missed_count - at) * sizeof loss->missed_us[0]);
}

static void
add_missed(struct tcp_loss *loss, uint32_t from, uint32_t to, uint32_t us)
{
	if (loss->missed_count == LOSS_MISSED_MAX)
		forget_missed(loss, 0);
	loss->missed[loss->missed_count] = (struct sequence_range){from, to};
	loss->missed_us[loss->missed_count] = us;
	loss->missed_count++;
}

void
tcp_loss_missed(struct tcp_step *step, uint32_t from, uint32_t to)
{
	add_missed(loss_need(step), from, to, step->us);
}

enum loss_fill
tcp_loss_fill(struct tcp_step *step, uint32_t seq, uint32_t end)
{
	struct tcp_loss *loss = loss_of(step);
	struct sequence_range gap = {0, 0};
	uint32_t since = 0;
	unsigned at;

	for (at = 0; loss != NULL && at < loss->missed_count; at++) {
		gap = loss->missed[at];
		since = loss->missed_us[at];
		if (!seq_before(seq, gap.begin) && seq_before(seq, gap.end))
			break;
	}
	if (loss == NULL || at == loss->missed_count)
		return LOSS_FILLS_NOTHING;
	forget_missed(loss, at);
	if (seq_before(gap.begin, seq))
		add_missed(loss, gap.begin, seq, since);
	if (seq_before(end, gap.end))
		add_missed(loss, end, gap.end, since);
	if (step->us - since >= REORDERED_US || tcp_loss_evidence(step->e, loss, seq))
		return LOSS_FILLS_LATE;
	log_append(flow_table_tcp(step->table), step->e, seq, end, step->us, true);
	return LOSS_FILLS_REORDERED;
}

/* --- estimates --- */

static uint32_t
send_mss(const struct flow_cold *cold, unsigned end)
{
	uint32_t mss = cold->mss[1 - end];
	uint32_t timestamps = cold_is_stamped(cold) ? 12 : 0;

	return mss > timestamps ? mss - timestamps : mss;
}

void
tcp_estimate(const struct flow_table *table, const struct flow *flow, unsigned end, struct tcp_estimates *estimates)
{
	const struct flow_cold *cold = flow_cold((struct flow_table *)(uintptr_t)table, flow);
	const struct loss_detail *detail = detail_of(flow_table_tcp(table), cold);
	const struct tcp_end *e = &flow->tcp[end];
	const struct tcp_loss *loss = detail == NULL ? NULL : &detail->end[end];
	uint32_t flight = is_synchronized((enum tcp_state)e->state) ? e->nxt - e->una : 0;

	*estimates = (struct tcp_estimates){.mss = send_mss(cold, end)};
	estimates->cwnd = loss != NULL && loss->cwnd != 0 ? loss->cwnd : INITIAL_WINDOW * estimates->mss;
	if (estimates->cwnd < flight)
		estimates->cwnd = flight;
	if (loss == NULL)
		return;
	estimates->ssthresh = loss->ssthresh;
	if (loss->sacked_count != 0)
		estimates->sack_fack = loss->sacked[loss->sacked_count - 1].end;
	if (loss->mode == LOSS_MODE_RECOVERY)
		estimates->sack_snxt = loss->next;
}
