/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp/tcp_pools.h"

#include <stdlib.h>

#include "flow/memory.h"
#include "flow/tcp/tcp.h"

#define SEND_LOG_INDICES_MIN (1u << 16)
#define SEND_LOG_INDICES_MAX (1u << 22)
#define LOSS_POOL_MIN 256u
#define LOSS_POOL_MAX 65535u /* 0 means none: two bytes of each flow */
#define HOLES_MIN 4096u
#define HOLE_LISTS_MIN 256u
#define HOLE_LISTS_MAX 65535u /* 0 means none: two bytes of each sender */

/* Positions of the send log: a power of two, one per flow.  What matters is how far back in time the log reaches, and a
 * few flows may send as fast as many. */
static uint32_t
send_log_index_space(uint32_t flows)
{
	uint32_t positions = SEND_LOG_INDICES_MIN;

	while (positions < SEND_LOG_INDICES_MAX && positions < flows)
		positions *= 2;
	return positions;
}

/* Entries of the log: three quarters of its positions.  With the default of a million flows that is 786432 entries,
 * 12.6 MB, and 3/4 s of a million data segments per second: longer than a round trip and the shortest timeouts (200
 * ms).  A timer with a longer backoff is still recognised by the silence before it; only the time and count of the
 * segment are then unknown. */
static uint32_t
send_log_entries_for(uint32_t flows)
{
	return send_log_index_space(flows) / 4 * 3;
}

static uint32_t
loss_pool_size_for(uint32_t flows)
{
	uint32_t count = flows / 16;

	return count < LOSS_POOL_MIN ? LOSS_POOL_MIN : count > LOSS_POOL_MAX ? LOSS_POOL_MAX : count;
}

static size_t
send_log_memory_size(uint32_t flows)
{
	return (size_t)send_log_entries_for(flows) * sizeof(struct send_log_entry);
}

static size_t
loss_pool_memory_size(uint32_t flows)
{
	return (size_t)loss_pool_size_for(flows) * sizeof(struct tcp_loss_pair);
}

static uint32_t
holes_for(uint32_t flows)
{
	return flows / 16 < HOLES_MIN ? HOLES_MIN : flows / 16;
}

static uint32_t
hole_lists_for(uint32_t flows)
{
	uint32_t count = flows / 128;

	return count < HOLE_LISTS_MIN ? HOLE_LISTS_MIN : count > HOLE_LISTS_MAX ? HOLE_LISTS_MAX : count;
}

static size_t
holes_memory_size(uint32_t flows)
{
	return holes_for(flows) * sizeof(struct tcp_hole);
}

static size_t
hole_lists_memory_size(uint32_t flows)
{
	return hole_lists_for(flows) * sizeof(struct tcp_holes);
}

static size_t
retransmits_memory_size(uint32_t flows)
{
	return flow_index_space(flows) * 2 * sizeof(uint32_t);
}

size_t
tcp_pools_memory_size(uint32_t flows)
{
	return sizeof(struct tcp_pools) + send_log_memory_size(flows) + loss_pool_memory_size(flows) +
	       holes_memory_size(flows) + hole_lists_memory_size(flows) + retransmits_memory_size(flows) +
	       PENDING_SYNS * sizeof(struct pending_syn);
}

struct tcp_pools *
tcp_pools_new(uint32_t flows)
{
	struct tcp_pools *pools = calloc(1, sizeof *pools);

	if (pools == NULL)
		return NULL;
	pools->log_mask = send_log_index_space(flows) - 1;
	pools->log_entries = send_log_entries_for(flows);
	pools->loss_pair_count = loss_pool_size_for(flows);
	pools->send_log = memory_reserve_huge(send_log_memory_size(flows));
	pools->loss_pairs = memory_reserve_huge(loss_pool_memory_size(flows));
	pools->hole_count = holes_for(flows);
	pools->holes = memory_reserve(holes_memory_size(flows));
	pools->hole_list_count = hole_lists_for(flows);
	pools->hole_lists = memory_reserve(hole_lists_memory_size(flows));
	pools->flows = flows;
	pools->retransmits = memory_reserve(retransmits_memory_size(flows));
	pools->pending_syns = calloc(PENDING_SYNS, sizeof *pools->pending_syns);
	if (pools->send_log == NULL || pools->loss_pairs == NULL || pools->holes == NULL ||
	    pools->hole_lists == NULL || pools->retransmits == NULL || pools->pending_syns == NULL) {
		tcp_pools_free(pools);
		return NULL;
	}
	return pools;
}

void
tcp_pools_populate(struct tcp_pools *pools, uint32_t flows)
{
	memory_populate(pools->send_log, send_log_memory_size(flows));
}

void
tcp_pools_free(struct tcp_pools *pools)
{
	if (pools == NULL)
		return;
	memory_release(pools->send_log, pools->log_entries * sizeof *pools->send_log);
	memory_release(pools->loss_pairs, (size_t)pools->loss_pair_count * sizeof *pools->loss_pairs);
	memory_release(pools->holes, holes_memory_size(pools->flows));
	memory_release(pools->hole_lists, hole_lists_memory_size(pools->flows));
	memory_release(pools->retransmits, retransmits_memory_size(pools->flows));
	free(pools->pending_syns);
	free(pools);
}

/* --- numbers of retransmissions --- */

void
tcp_count_retransmission(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	uint32_t *count = &flow_table_tcp_pools(table)->retransmits[flow_table_index(table, flow)][endpoint];
	struct tcp_endpoint *e = &flow->tcp[endpoint];

	*count = e->retransmitted ? *count + 1 : 1;
	e->retransmitted = true;
}

uint32_t
tcp_retransmits(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	if (!flow->tcp[endpoint].retransmitted)
		return 0;
	return flow_table_tcp_pools(table)->retransmits[flow_table_index(table, flow)][endpoint];
}

/* --- pending SYNs --- */

static struct pending_syn *
pending_syn_slot(const struct flow_table *table, const struct flow *flow)
{
	return &flow_table_tcp_pools(table)->pending_syns[flow_table_index(table, flow) % PENDING_SYNS];
}

struct pending_syn *
pending_syn_find(const struct flow_table *table, const struct flow *flow)
{
	struct pending_syn *syn = pending_syn_slot(table, flow);

	return syn->flow == flow && syn->serial == flow_cid(table, flow, 0) ? syn : NULL;
}

void
pending_syn_store(struct flow_table *table, struct flow *flow, const struct pending_syn *syn)
{
	struct pending_syn *slot = pending_syn_slot(table, flow);

	*slot = *syn;
	slot->flow = flow;
	slot->serial = flow_cid(table, flow, 0);
	flow->tcp[0].slow_reasons |= TCP_SLOW_UNDECIDED;
	flow->tcp[1].slow_reasons |= TCP_SLOW_UNDECIDED;
}

void
pending_syn_remove(struct flow_table *table, struct flow *flow)
{
	struct pending_syn *syn = pending_syn_find(table, flow);
	unsigned endpoint;

	if (syn != NULL)
		syn->flow = NULL;
	for (endpoint = 0; endpoint < 2; endpoint++)
		if (!flow->tcp[endpoint].fin_unproven)
			flow->tcp[endpoint].slow_reasons &= (uint8_t)~TCP_SLOW_UNDECIDED;
}

void
send_log_append_long(struct tcp_pools *pools, struct tcp_endpoint *e, struct send_log_record record)
{
	struct send_log_record piece = record;

	while (record.end_seq - piece.seq > SEND_LOG_LEN_MAX) {
		piece.end_seq = piece.seq + SEND_LOG_LEN_MAX;
		send_log_append_entry(pools, e, &piece);
		piece.seq = piece.end_seq;
	}
	piece.end_seq = record.end_seq;
	send_log_append_entry(pools, e, &piece);
}

struct send_log_result
send_log_search(struct tcp_pools *pools, const struct tcp_endpoint *e, uint32_t seq)
{
	struct send_log_result result = {.first_seq = seq};
	const struct send_log_entry *entry = send_log_entry_at(pools, e->log_tail);
	unsigned examined, limit = pools->search_left < SEND_LOG_SEARCH_MAX ? pools->search_left : SEND_LOG_SEARCH_MAX;

	for (examined = 0; entry != NULL && examined < limit; examined++) {
		if (send_log_entry_covers(entry, seq))
			send_log_result_add(&result, entry);
		if (send_log_entry_is_last(entry, seq))
			break;
		entry = send_log_entry_before(pools, entry);
	}
	pools->search_left -= examined;
	return result;
}

/* --- the pool of holes --- */

void
tcp_holes_unlink(struct tcp_pools *pools, struct tcp_holes *holes, uint32_t previous)
{
	uint32_t *link = previous == 0 ? &holes->head : &tcp_hole_at(pools, previous)->next;
	uint32_t number = *link;
	struct tcp_hole *hole = tcp_hole_at(pools, number);

	*link = hole->next;
	if (holes->tail == number)
		holes->tail = previous;
	holes->bytes -= hole->end_seq - hole->begin;
	holes->count--;
	hole->next = pools->hole_free_head;
	pools->hole_free_head = number;
}

void
tcp_holes_release(struct tcp_pools *pools, struct tcp_loss *loss)
{
	struct tcp_holes *holes;

	if (loss->holes == 0)
		return;
	holes = tcp_holes_at(pools, loss->holes);
	while (holes->head != 0)
		tcp_holes_unlink(pools, holes, 0);
	*holes = (struct tcp_holes){.owner = pools->hole_list_free_head};
	pools->hole_list_free_head = loss->holes;
	loss->holes = 0;
}

/* --- the pool of loss pairs --- */

struct tcp_loss_pair *
loss_pool_find(struct tcp_pools *pools, const struct flow_cold *cold)
{
	return cold->loss_index == 0 ? NULL : &pools->loss_pairs[cold->loss_index - 1];
}

static void
loss_pool_detach(struct flow_table *table, struct tcp_loss_pair *pair)
{
	struct flow *flow = pair->flow;
	unsigned endpoint;

	for (endpoint = 0; endpoint < 2; endpoint++)
		tcp_holes_release(flow_table_tcp_pools(table), &pair->end[endpoint]);
	flow_cold(table, flow)->loss_index = 0;
	flow->tcp[0].slow_reasons &= (uint8_t)~TCP_SLOW_LOSS;
	flow->tcp[1].slow_reasons &= (uint8_t)~TCP_SLOW_LOSS;
	pair->flow = NULL;
}

/* All loss pairs are in use: evicts them in the order of first use, round robin. */
static uint32_t
loss_pool_evict(struct flow_table *table, struct tcp_pools *pools)
{
	uint32_t index = pools->loss_clock_hand;

	pools->loss_clock_hand = (index + 1) % pools->loss_pair_count;
	pools->loss_evicted++;
	loss_pool_detach(table, &pools->loss_pairs[index]);
	return index;
}

struct tcp_loss_pair *
loss_pool_acquire(struct flow_table *table, struct flow *flow)
{
	struct tcp_pools *pools = flow_table_tcp_pools(table);
	struct flow_cold *cold = flow_cold(table, flow);
	uint32_t index;

	if (cold->loss_index != 0)
		return &pools->loss_pairs[cold->loss_index - 1];
	if (pools->loss_free_head != 0) {
		index = pools->loss_free_head - 1;
		pools->loss_free_head = pools->loss_pairs[index].next_free;
	} else if (pools->loss_high_water < pools->loss_pair_count) {
		index = pools->loss_high_water++;
	} else {
		index = loss_pool_evict(table, pools);
	}
	pools->loss_pairs[index] = (struct tcp_loss_pair){.flow = flow};
	cold->loss_index = (uint16_t)(index + 1);
	return &pools->loss_pairs[index];
}

void
loss_pool_release(struct flow_table *table, struct flow *flow)
{
	struct tcp_pools *pools = flow_table_tcp_pools(table);
	uint32_t number = flow_cold(table, flow)->loss_index;

	if (number == 0)
		return;
	loss_pool_detach(table, &pools->loss_pairs[number - 1]);
	pools->loss_pairs[number - 1].next_free = pools->loss_free_head;
	pools->loss_free_head = number;
}
