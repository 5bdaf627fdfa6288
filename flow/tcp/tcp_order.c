/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp/tcp_internal.h"


/* A duplicate is captured this soon after its original. */
#define TCP_DUPLICATE_MAX_US 1000000u

/* A segment without a stamp that is captured this soon after its original is a duplicate, unless an ACK came between
 * them: no timer is so short. */
#define TCP_PLAIN_DUPLICATE_MAX_US 1000u

/* Shortest retransmission timeout; a segment with an unproved stamp is a duplicate only before. */
#define TCP_TIMEOUT_MIN_US 150000u

/* Without a reason to retransmit, a gap that is filled this soon is reordered, even if no ACK is captured. */
#define TCP_REORDER_MAX_US 3000u

/* Identifications that count up differ by at most this between two segments with data. */
#define TCP_STAMP_STEP_MAX 1024

/* A single pair proves that identifications count up if they are this close. */
#define TCP_STAMP_STEP_CLOSE 64

/* Entries of the send log that are compared to prove it. */
#define TCP_STAMP_ENTRIES 6u

/* More bytes than this in flight may use up half of the 2^16 identifications. */
#define TCP_STAMP_FLIGHT_MAX (1u << 23)

/* The bits of TSval in a send stamp are unambiguous for half of 2^12 ms. */
#define TCP_STAMP_AGE_MAX_US 1500000u

/* Longest tick of the clocks that hosts use for TSval. */
#define TCP_TICK_MAX_US 10000u

struct order_scan {
	uint32_t seq;
	uint16_t stamp, mask; /* the bits of a stamp that order transmissions */
	uint32_t len;	      /* as the send log has it */
	bool complete;	      /* the log has every captured transmission of `seq` */
	const struct send_log_entry *same;  /* latest transmission of the same range with the same stamp, NULL none */
	const struct send_log_entry *split; /* latest one of which this is a part, or the first part of this */
	const struct send_log_entry *copy;  /* earliest transmission of `seq`, NULL none */
	const struct send_log_entry *above; /* earliest transmission above `seq`, NULL none */
	uint32_t above_us;    /* when data above was captured first; valid if `above` is not NULL */
	uint32_t next_seq;    /* lowest sequence number above `seq` that was captured */
	int oldest_copy;      /* smallest distance from this stamp to that of a transmission of `seq`, or INT16_MAX */
	int oldest_above;     /* likewise to that of data above */
	struct send_log_result log; /* the transmissions of `seq` */
};

static int
order_stamp_distance(uint16_t from, uint16_t to)
{
	return (int16_t)(uint16_t)(to - from);
}

/* Whether a segment is part of a larger one, which is captured before an interface splits it: the identifications of
 * the parts count up from that of the whole, and their timestamps are the same. */
static bool
order_is_part(uint32_t seq, uint32_t len, int distance, const struct send_log_entry *whole, bool is_tsval)
{
	uint32_t offset = seq - whole->seq;

	if (len == 0 || len >= whole->len || offset > whole->len - len || distance < 0)
		return false;
	return is_tsval ? distance == 0 : (uint32_t)distance <= offset / len;
}

static void
order_scan_split(struct order_scan *scan, const struct send_log_entry *entry, bool is_tsval)
{
	const struct send_log_entry whole = {.seq = scan->seq, .len = (uint16_t)scan->len};

	if (scan->split != NULL || scan->stamp == 0)
		return;
	if (order_is_part(scan->seq, scan->len, order_stamp_distance(entry->stamp, scan->stamp), entry, is_tsval) ||
	    (entry->seq == scan->seq && entry->stamp == scan->stamp &&
	     order_is_part(entry->seq, entry->len, 0, &whole, is_tsval)))
		scan->split = entry;
}

static void
order_scan_copy(struct order_scan *scan, const struct send_log_entry *entry, bool alien)
{
	int distance = order_stamp_distance(scan->stamp & scan->mask, entry->stamp & scan->mask);

	send_log_result_add(&scan->log, entry);
	scan->copy = entry;
	if (!alien && distance < scan->oldest_copy)
		scan->oldest_copy = distance;
	if (entry->stamp == scan->stamp && entry->seq == scan->seq && entry->len == scan->len && scan->same == NULL)
		scan->same = entry;
}

static void
order_scan_above(struct order_scan *scan, const struct send_log_entry *entry, bool alien)
{
	int distance = order_stamp_distance(scan->stamp & scan->mask, entry->stamp & scan->mask);

	if (!alien && distance < scan->oldest_above)
		scan->oldest_above = distance;
	scan->above = entry;
	scan->above_us = entry->us;
	if (tcp_seq_before(entry->seq, scan->next_seq))
		scan->next_seq = entry->seq;
}

/* Whether the stamp of a log entry is not an identification although the sender counts them up: a packet whose counter
 * was 0 has a stamp from TSval.  `later`: the entry after it. */
static bool
order_stamp_is_alien(const struct send_log_entry *entry, const struct send_log_entry *later)
{
	int step = later == NULL ? 0 : order_stamp_distance(entry->stamp, later->stamp);

	return step > TCP_STAMP_STEP_MAX || step < -TCP_STAMP_STEP_MAX;
}

static struct order_scan
order_scan_log(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	const struct send_log_entry *entry = send_log_entry_at(pools, ctx->ep->log_tail), *later = NULL;
	bool is_tsval = tcp_segment_stamp_is_tsval(ctx), alien;
	struct order_scan scan = {.seq = seq,
				  .stamp = tcp_segment_stamp(ctx),
				  .mask = (uint16_t)(is_tsval ? ~(SEND_STAMP_TICK - 1) : UINT16_MAX),
				  .len = end_seq - seq < SEND_LOG_LEN_MAX ? end_seq - seq : SEND_LOG_LEN_MAX,
				  .complete = ctx->ep->log_tail == 0,
				  .next_seq = ctx->ep->nxt,
				  .oldest_copy = INT16_MAX,
				  .oldest_above = INT16_MAX,
				  .log = {.first_seq = seq}};
	unsigned examined;

	for (examined = 0; entry != NULL && examined < SEND_LOG_SEARCH_MAX; examined++) {
		alien = !is_tsval && order_stamp_is_alien(entry, later);
		later = entry;
		if (send_log_entry_covers(entry, seq)) {
			order_scan_copy(&scan, entry, alien);
			order_scan_split(&scan, entry, is_tsval);
		} else if (tcp_seq_before(seq, entry->seq)) {
			order_scan_above(&scan, entry, alien);
		}
		if (send_log_entry_is_last(entry, seq) || entry->prev_and_retransmitted >> 1 == 0) {
			scan.complete = true;
			break;
		}
		entry = send_log_entry_before(pools, entry);
	}
	return scan;
}

/* Whether the endpoint counts up its identifications: those of its latest segments are close to each other.  Those of a
 * SYN are left out, because a SYN,ACK has no socket yet that could count. */
static bool
order_identifications_ascend(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	const struct send_log_entry *entry = send_log_entry_at(pools, ctx->ep->log_tail);
	uint16_t stamp = tcp_segment_stamp(ctx);
	unsigned examined, proof = 0;

	for (examined = 0; entry != NULL && examined < TCP_STAMP_ENTRIES; examined++) {
		int step = order_stamp_distance(entry->stamp, stamp);

		if ((ctx->ep->flags & TCP_EP_ISS_KNOWN) != 0 && entry->seq == ctx->ep->iss)
			break;
		if (step == 0 || step > TCP_STAMP_STEP_MAX || step < -TCP_STAMP_STEP_MAX)
			return false;
		proof += step <= TCP_STAMP_STEP_CLOSE && step >= -TCP_STAMP_STEP_CLOSE ? 2 : 1;
		stamp = entry->stamp;
		entry = send_log_entry_before(pools, entry);
	}
	return proof >= 2;
}

enum ident_use
tcp_identification_use(const struct flow_table *table, const struct flow *flow, unsigned sender,
		       const struct packet *packet)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(table);
	const struct send_log_entry *entry = send_log_entry_at(pools, flow->tcp[sender].log_tail);
	uint16_t stamp = packet_send_stamp(packet);
	enum ident_use use = IDENT_UNKNOWN;
	unsigned examined;

	for (examined = 0; entry != NULL && examined < TCP_STAMP_ENTRIES; examined++) {
		if (entry->stamp != stamp)
			use = IDENT_CHANGES;
		else if (entry->seq != packet->tcp.seq)
			return IDENT_REPEATS;
		entry = send_log_entry_before(pools, entry);
	}
	return use;
}

static bool
order_identification_is_reused(const struct tcp_segment_ctx *ctx)
{
	return tcp_identification_use(ctx->table, ctx->flow, ctx->endpoint, ctx->packet) == IDENT_REPEATS;
}

/* Whether the distance to stamps that are at most as old as `entry` shows in which order the segments were sent. */
static bool
order_stamps_are_usable(const struct tcp_segment_ctx *ctx, int distance, const struct send_log_entry *entry)
{
	if (tcp_segment_stamp(ctx) == 0 || distance == 0 || distance == INT16_MAX)
		return false;
	if (tcp_segment_stamp_is_tsval(ctx))
		return entry != NULL && tcp_us_since(entry->us, ctx->us) < TCP_STAMP_AGE_MAX_US;
	return ctx->ep->nxt - ctx->header->seq < TCP_STAMP_FLIGHT_MAX && order_identifications_ascend(ctx);
}

/* Whether SACK blocks or duplicate ACKs give the sender a reason to retransmit `seq`. */
static bool
order_loss_is_indicated(const struct tcp_segment_ctx *ctx, uint32_t seq)
{
	static const struct tcp_loss nothing;
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	return tcp_loss_is_lost(ctx->ep, loss == NULL ? &nothing : loss, seq);
}

/* The round trip between both endpoints, in microseconds: the sum of those on both sides of the capture point; 0 if
 * unknown. */
static uint32_t
order_round_trip_us(const struct tcp_segment_ctx *ctx)
{
	return ctx->ep->srtt_us / 2 + ctx->peer->srtt_us / 2 > TCP_RTT_MAX_US / 2 ? TCP_RTT_MAX_US :
		       ctx->ep->srtt_us + ctx->peer->srtt_us;
}

/* Whether a SYN,ACK answers another SYN than the one before: it repeats a SYN of a simultaneous open, or the peer has
 * repeated its SYN. */
static bool
order_is_answering_syn(const struct tcp_segment_ctx *ctx)
{
	const struct send_log_entry *peer = send_log_entry_at(flow_table_tcp_pools(ctx->table), ctx->peer->log_tail);
	bool repeated = peer != NULL && (peer->prev_and_retransmitted & 1) != 0;
	/* Captured after an ACK of what the peer has sent since. */
	bool late = ctx->ep->state == TCP_STATE_ESTABLISHED && tcp_seq_before(ctx->header->ack, ctx->ep->last_ack_sent);

	return (ctx->header->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK) &&
	       ((ctx->header->ack != ctx->ep->last_ack_sent && !late) || repeated);
}

/* Whether the sender can have repeated `original` because of an ACK since.  One that reported a gap may be followed by
 * one that fills it; one that ends a recovery may show that data sent later has arrived (RACK, RFC 8985). */
static bool
order_is_answered(const struct tcp_loss *loss, const struct send_log_entry *original)
{
	return loss != NULL && loss->loss_ack_us != 0 && tcp_seq_before(original->us, loss->loss_ack_us);
}

/* Whether a segment that may be a part of an earlier one, or the whole of it, is.  A SYN is never split. */
static bool
order_is_split(const struct tcp_segment_ctx *ctx, const struct order_scan *scan, const struct tcp_loss *loss)
{
	if ((ctx->header->flags & TCP_SYN) != 0 ||
	    ((ctx->ep->flags & TCP_EP_ISS_KNOWN) != 0 && scan->split->seq == ctx->ep->iss))
		return false;
	return ctx->header->ack == ctx->ep->last_ack_sent &&
	       tcp_us_since(scan->split->us, ctx->us) < TCP_PLAIN_DUPLICATE_MAX_US &&
	       !tcp_seq_before(ctx->ep->nxt, scan->seq + scan->len) &&
	       !order_is_answered(loss, scan->split);
}

/* Whether a segment with range and stamp of an earlier one is its duplicate.  A stamp from TSval is also that of a
 * retransmission within the same tick, which takes an ACK since the original, or, if that was not captured, a round
 * trip shorter than the tick. */
static bool
order_is_duplicate(const struct tcp_segment_ctx *ctx, const struct order_scan *scan)
{
	uint32_t elapsed, round_trip_us = order_round_trip_us(ctx);
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	if (scan->same == NULL && scan->split != NULL)
		return order_is_split(ctx, scan, loss);
	if (scan->same == NULL || order_is_answering_syn(ctx))
		return false;
	elapsed = tcp_us_since(scan->same->us, ctx->us);
	if (tcp_segment_stamp(ctx) == 0)
		return elapsed < TCP_PLAIN_DUPLICATE_MAX_US && ctx->header->ack == ctx->ep->last_ack_sent &&
		       !order_is_answered(loss, scan->same);
	if (!tcp_segment_stamp_is_tsval(ctx))
		return elapsed < TCP_DUPLICATE_MAX_US && !order_identification_is_reused(ctx) &&
		       (elapsed < TCP_TIMEOUT_MIN_US || order_identifications_ascend(ctx));
	if (flow_table_expects_duplicate(ctx->table) && elapsed < TCP_TIMEOUT_MIN_US)
		return true; /* also after an ACK: what is sent again is captured elsewhere first */
	if (elapsed >= TCP_TIMEOUT_MIN_US || order_is_answered(loss, scan->same))
		return false;
	return (ctx->header->flags & TCP_SYN) != 0 || round_trip_us == 0 || round_trip_us >= TCP_TICK_MAX_US ||
	       elapsed < round_trip_us / 2 || (loss != NULL && loss->state != TCP_CONGESTION_OPEN);
}

/* Whether a segment that fills a gap in the capture is a first transmission that was overtaken. */
static bool
order_is_reordered(const struct tcp_segment_ctx *ctx, const struct order_scan *scan)
{
	bool usable = order_stamps_are_usable(ctx, scan->oldest_above, scan->above);
	bool answered = ctx->peer->segments_sent != 0;
	uint32_t elapsed, round_trip_us = order_round_trip_us(ctx);

	if (usable && (scan->oldest_above > 0 || !answered))
		return scan->oldest_above > 0;
	if (scan->above == NULL)
		return false;
	/* Sent in the tick of data above it, sooner than a loss could be reported. */
	if (scan->oldest_above == 0 && tcp_segment_stamp_is_tsval(ctx) && round_trip_us >= TCP_TICK_MAX_US)
		return true;
	elapsed = tcp_us_since(scan->above_us, ctx->us);
	if (order_loss_is_indicated(ctx, scan->seq))
		return !usable && elapsed < round_trip_us / 2;
	return elapsed < (answered ? TCP_TIMEOUT_MIN_US : TCP_REORDER_MAX_US);
}

struct tcp_repeat
tcp_order_classify(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq)
{
	struct order_scan scan = order_scan_log(ctx, seq, end_seq);
	struct tcp_hole_overlap holes = tcp_holes_find(ctx, seq, end_seq);
	struct tcp_repeat repeat = {
	    .kind = TCP_REPEAT_RETRANSMISSION, .holes_known = holes.known, .log = scan.log};

	if (holes.known)
		repeat.fresh = holes.first;
	else if (!scan.log.found && scan.complete)
		repeat.fresh = (tcp_seq_before(scan.next_seq, end_seq) ? scan.next_seq : end_seq) - seq;
	if (!scan.complete && holes.known && holes.us != 0)
		scan.above_us = holes.us;
	if (repeat.fresh != 0 && scan.above != NULL)
		repeat.since_us = tcp_us_since(scan.above_us, ctx->us) | 1;
	if (order_is_duplicate(ctx, &scan))
		repeat.kind = TCP_REPEAT_DUPLICATE;
	else if (repeat.fresh != 0 ? order_is_reordered(ctx, &scan) :
				     scan.oldest_copy > 0 && order_stamps_are_usable(ctx, scan.oldest_copy, scan.copy))
		repeat.kind = TCP_REPEAT_REORDERED;
	return repeat;
}
