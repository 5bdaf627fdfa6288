/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holes: ranges below SND.NXT that were not captured, ascending, in a list per endpoint.  What fills one counts as sent
 * for the first time, however many segments were sent since.
 *
 * Nothing else is missing if the bytes in the list and those captured are all that the numbers of the endpoint span.
 * Bytes for which the pools had no room are counted as forgotten; from `floor` on the list still has every hole.
 */
#include "flow/tcp/tcp_internal.h"

/* Most holes of an endpoint; with more the lowest is forgotten. */
#define TCP_HOLES_MAX 512u

/* A hole so far below SND.UNA is not filled any more: forgets it. */
#define TCP_HOLE_ACKNOWLEDGED_MAX (1u << 24)

/* A free hole; 0 if all are in use. */
static uint32_t
tcp_hole_allocate(struct tcp_pools *pools)
{
	uint32_t number = pools->hole_free_head;

	if (number != 0)
		pools->hole_free_head = tcp_hole_at(pools, number)->next;
	else if (pools->hole_high_water < pools->hole_count)
		number = ++pools->hole_high_water;
	return number;
}

/* Inserts a hole after `previous` (0: in front).  False if there is no room. */
static bool
tcp_holes_insert(struct tcp_pools *pools, struct tcp_holes *holes, uint32_t previous, struct tcp_hole hole)
{
	uint32_t number = holes->count == TCP_HOLES_MAX ? 0 : tcp_hole_allocate(pools);
	uint32_t *link = previous == 0 ? &holes->head : &tcp_hole_at(pools, previous)->next;

	if (number == 0)
		return false;
	hole.next = *link;
	*tcp_hole_at(pools, number) = hole;
	*link = number;
	if (holes->tail == previous)
		holes->tail = number;
	holes->bytes += hole.end_seq - hole.begin;
	holes->count++;
	return true;
}

/* `bytes` that were not captured, below `floor`, are not in the list. */
static void
tcp_holes_forget(struct tcp_holes *holes, uint32_t bytes, uint32_t floor)
{
	holes->floor = holes->forgotten == 0 ? floor : tcp_seq_max(holes->floor, floor);
	holes->forgotten += bytes;
}

static void
tcp_holes_forget_lowest(struct tcp_pools *pools, struct tcp_holes *holes)
{
	const struct tcp_hole *lowest = tcp_hole_at(pools, holes->head);

	tcp_holes_forget(holes, lowest->end_seq - lowest->begin, lowest->end_seq);
	tcp_holes_unlink(pools, holes, 0);
}

/* --- lists --- */

/* The list of the endpoint in `ctx`; NULL without a list. */
static struct tcp_holes *
tcp_holes_of(const struct tcp_segment_ctx *ctx)
{
	const struct tcp_loss *loss = tcp_loss_find(ctx);

	return loss == NULL || loss->holes == 0 ? NULL : tcp_holes_at(flow_table_tcp_pools(ctx->table), loss->holes);
}

static void
tcp_holes_evict(struct tcp_pools *pools)
{
	uint32_t owner = pools->hole_lists[pools->hole_list_clock_hand].owner - 1;

	pools->hole_list_clock_hand = (pools->hole_list_clock_hand + 1) % pools->hole_list_count;
	tcp_holes_release(pools, &pools->loss_pairs[owner / 2].end[owner % 2]);
}

/* The list of the endpoint in `ctx`, which is created if needed. */
static struct tcp_holes *
tcp_holes_acquire(struct tcp_segment_ctx *ctx)
{
	struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	struct tcp_loss_pair *pair = loss_pool_acquire(ctx->table, ctx->flow);
	struct tcp_loss *loss = &pair->end[ctx->endpoint];
	uint32_t number = loss->holes;

	if (number != 0)
		return tcp_holes_at(pools, number);
	if (pools->hole_list_free_head == 0 && pools->hole_list_high_water == pools->hole_list_count)
		tcp_holes_evict(pools);
	number = pools->hole_list_free_head;
	if (number != 0)
		pools->hole_list_free_head = tcp_holes_at(pools, number)->owner;
	else
		number = ++pools->hole_list_high_water;
	*tcp_holes_at(pools, number) =
	    (struct tcp_holes){.owner = (uint32_t)(pair - pools->loss_pairs) * 2 + ctx->endpoint + 1};
	loss->holes = (uint16_t)number;
	return tcp_holes_at(pools, number);
}

void
tcp_holes_clear(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	struct tcp_pools *pools = flow_table_tcp_pools(table);
	struct tcp_loss_pair *pair = loss_pool_find(pools, flow_cold(table, flow));

	if (pair != NULL)
		tcp_holes_release(pools, &pair->end[endpoint]);
}

/* --- what the numbers of the endpoint say --- */

/* The lowest sequence number of the endpoint's stream that counts. */
static uint32_t
tcp_holes_base(const struct tcp_endpoint *e, const struct tcp_holes *holes)
{
	return holes != NULL && holes->has_base && (e->flags & TCP_EP_ISS_KNOWN) == 0 ? holes->base : e->iss + 1;
}

/* Bytes between the first one of the stream and SND.NXT that were not captured and are not accounted for by the list,
 * modulo 2^32. */
static uint32_t
tcp_holes_unaccounted(const struct tcp_endpoint *e, const struct tcp_holes *holes)
{
	uint32_t end = e->nxt - ((e->flags & TCP_EP_FIN_SENT) != 0);

	return end - tcp_holes_base(e, holes) - (uint32_t)e->bytes -
	       (holes == NULL ? 0 : holes->bytes + holes->forgotten);
}

/* Whether every hole from `seq` on is in the list. */
static bool
tcp_holes_are_known(const struct tcp_endpoint *e, const struct tcp_holes *holes, uint32_t seq)
{
	return (e->flags & TCP_EP_SEQ_KNOWN) != 0 && tcp_holes_unaccounted(e, holes) == 0 &&
	       (holes == NULL || holes->forgotten == 0 || !tcp_seq_before(seq, holes->floor));
}

/* --- use --- */

void
tcp_holes_add(struct tcp_segment_ctx *ctx, uint32_t begin, uint32_t end_seq)
{
	struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	struct tcp_holes *holes = tcp_holes_acquire(ctx);
	struct tcp_hole hole = {.begin = begin, .end_seq = end_seq, .us = ctx->us | 1};
	uint32_t unaccounted = tcp_holes_unaccounted(ctx->ep, holes);

	if (unaccounted != 0)
		tcp_holes_forget(holes, unaccounted, begin);
	while (holes->head != 0 &&
	       tcp_seq_before(tcp_hole_at(pools, holes->head)->end_seq, ctx->ep->una - TCP_HOLE_ACKNOWLEDGED_MAX))
		tcp_holes_forget_lowest(pools, holes);
	if (holes->count == TCP_HOLES_MAX)
		tcp_holes_forget_lowest(pools, holes);
	if (tcp_holes_insert(pools, holes, holes->tail, hole))
		return;
	if (holes->head != 0) {
		tcp_holes_forget_lowest(pools, holes);
		tcp_holes_insert(pools, holes, holes->tail, hole);
	} else {
		tcp_holes_forget(holes, end_seq - begin, end_seq);
	}
}

struct tcp_hole_overlap
tcp_holes_find(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq)
{
	const struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	const struct tcp_holes *holes = tcp_holes_of(ctx);
	struct tcp_hole_overlap overlap = {.known = tcp_holes_are_known(ctx->ep, holes, seq)};
	uint32_t base = tcp_holes_base(ctx->ep, holes);
	const struct tcp_hole *hole = NULL;
	uint32_t number;

	if ((ctx->ep->flags & TCP_EP_ISS_KNOWN) == 0 && tcp_seq_before(seq, base)) {
		overlap.first = (tcp_seq_before(base, end_seq) ? base : end_seq) - seq;
		return overlap;
	}
	for (number = holes == NULL ? 0 : holes->head; number != 0; number = hole->next) {
		hole = tcp_hole_at(pools, number);
		if (tcp_seq_before(seq, hole->end_seq))
			break;
	}
	if (number == 0 || tcp_seq_before(seq, hole->begin))
		return overlap;
	overlap.first = (tcp_seq_before(hole->end_seq, end_seq) ? hole->end_seq : end_seq) - seq;
	overlap.us = hole->us;
	return overlap;
}

/* In mid-stream, bytes before the first one captured: the stream begins with them. */
static uint32_t
tcp_holes_fill_below(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq)
{
	uint32_t base = tcp_holes_base(ctx->ep, tcp_holes_of(ctx));
	struct tcp_holes *holes;

	if ((ctx->ep->flags & TCP_EP_ISS_KNOWN) != 0 || !tcp_seq_before(seq, base))
		return 0;
	holes = tcp_holes_acquire(ctx);
	if (tcp_seq_before(end_seq, base) &&
	    !tcp_holes_insert(flow_table_tcp_pools(ctx->table), holes, 0,
			      (struct tcp_hole){.begin = end_seq, .end_seq = base}))
		tcp_holes_forget(holes, base - end_seq, base);
	holes->base = seq;
	holes->has_base = true;
	return (tcp_seq_before(base, end_seq) ? base : end_seq) - seq;
}

/* Takes [seq, end_seq) out of the hole after `previous`, which it overlaps.  True if the hole is gone. */
static bool
tcp_holes_cut(struct tcp_pools *pools, struct tcp_holes *holes, uint32_t previous, uint32_t seq, uint32_t end_seq)
{
	uint32_t number = previous == 0 ? holes->head : tcp_hole_at(pools, previous)->next;
	struct tcp_hole *hole = tcp_hole_at(pools, number), rest = *hole;
	bool left = tcp_seq_before(hole->begin, seq), right = tcp_seq_before(end_seq, hole->end_seq);

	if (!left && !right) {
		tcp_holes_unlink(pools, holes, previous);
		return true;
	}
	if (left)
		hole->end_seq = seq;
	else
		hole->begin = end_seq;
	holes->bytes -= rest.end_seq - rest.begin - (hole->end_seq - hole->begin);
	rest.begin = end_seq;
	if (left && right && !tcp_holes_insert(pools, holes, number, rest))
		tcp_holes_forget(holes, rest.end_seq - rest.begin, rest.end_seq);
	return false;
}

/* Takes [seq, end_seq) out of the list.  Returns its bytes. */
static uint32_t
tcp_holes_take(struct tcp_pools *pools, struct tcp_holes *holes, uint32_t seq, uint32_t end_seq)
{
	uint32_t before = holes->bytes + holes->forgotten, number = holes->head, previous = 0;

	while (number != 0) {
		const struct tcp_hole *hole = tcp_hole_at(pools, number);
		uint32_t next = hole->next;

		if (!tcp_seq_before(hole->begin, end_seq))
			break;
		if (!tcp_seq_before(seq, hole->end_seq) || !tcp_holes_cut(pools, holes, previous, seq, end_seq))
			previous = number;
		number = next;
	}
	return before - (holes->bytes + holes->forgotten);
}

uint32_t
tcp_holes_fill(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq)
{
	struct tcp_pools *pools = flow_table_tcp_pools(ctx->table);
	uint32_t filled = tcp_holes_fill_below(ctx, seq, end_seq);
	struct tcp_holes *holes = tcp_holes_of(ctx);

	if (holes == NULL)
		return filled;
	filled += tcp_holes_take(pools, holes, seq, end_seq);
	if (holes->head == 0 && holes->forgotten == 0 && !holes->has_base)
		tcp_holes_release(pools, tcp_loss_find(ctx));
	return filled;
}

void
tcp_holes_fill_forgotten(struct tcp_segment_ctx *ctx, uint32_t bytes)
{
	struct tcp_holes *holes = tcp_holes_of(ctx);

	if (holes != NULL && bytes <= holes->forgotten)
		holes->forgotten -= bytes;
}
