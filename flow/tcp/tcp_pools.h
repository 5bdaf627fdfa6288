/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the TCP machine keeps beside the flows, all of it reserved with the table.
 *
 * The send log: one ring for all connections, 16 bytes for each segment that sent sequence space, linked from newest
 * to oldest per endpoint.  The short path only appends, and appending is sequential.  It is read when something is
 * sent again: when was this last sent, and how often?  What the ring has overwritten was not seen.
 *
 * The pool of loss details: memory for the connections that have lost something lately.  When it is used up the one
 * that has held its detail longest loses it, and with it only the evidence for a better word.
 */
#ifndef NETOBS_FLOW_TCP_TCP_POOLS_H
#define NETOBS_FLOW_TCP_TCP_POOLS_H

#include "flow/flow_internal.h"

/* An index is lap << n | place, in 31 bits, and never 0.  Not every place of n bits is in the ring, so appending jumps
 * to the next lap at its end; an entry is there as long as it is no more than 2^n behind the newest. */
#define LOG_INDEX_MASK 0x7fffffffu

struct log_entry {
	uint32_t seq, end; /* [seq, end) was sent */
	uint32_t us;	   /* when */
	uint32_t link;	   /* index of the endpoint's entry before << 1 | this one was sent again */
};

_Static_assert(sizeof(struct log_entry) == 16, "four log entries share a cache line");

struct loss_detail;

struct tcp_store {
	struct log_entry *log;
	uint32_t log_entries;
	uint32_t log_mask; /* place of an index: 2^n - 1, no less than log_entries */
	uint32_t log_last; /* index of the newest */
	struct loss_detail *details;
	uint32_t detail_count;
	uint32_t detail_top;   /* those from here on were never used */
	uint32_t detail_spare; /* index + 1 of the first free one below */
	uint32_t detail_hand;  /* the next to be taken away */
	uint64_t details_lost; /* taken away so far */
};

/* The index of the next entry.  A lap has unused places, so that only here 31 bits can be passed. */
static inline uint32_t
log_next(const struct tcp_store *store)
{
	uint32_t index = store->log_last + 1;

	if (__builtin_expect((index & store->log_mask) >= store->log_entries, 0)) {
		index = ((index | store->log_mask) + 1) & LOG_INDEX_MASK;
		index += index == 0;
	}
	return index;
}

/* Notes that the endpoint has sent [seq, end) at `us`. */
static inline void
log_append(struct tcp_store *store, struct tcp_end *e, uint32_t seq, uint32_t end, uint32_t us, bool again)
{
	uint32_t index = log_next(store);
	struct log_entry *entry = &store->log[index & store->log_mask];

	*entry = (struct log_entry){.seq = seq, .end = end, .us = us, .link = e->sent << 1 | again};
	store->log_last = index;
	e->sent = index;
}

/* The entry of an index; NULL if there is none or the ring has overwritten it. */
static inline const struct log_entry *
log_entry(const struct tcp_store *store, uint32_t index)
{
	if (index == 0 || ((store->log_last - index) & LOG_INDEX_MASK) > store->log_mask)
		return NULL;
	return &store->log[index & store->log_mask];
}

/* What the log tells about one sequence number. */
struct log_answer {
	bool seen;	/* it was seen sent before */
	uint32_t us;	/* when last */
	uint32_t count; /* how often */
	uint32_t begin; /* of the segment that sent it first, as far as the log reaches */
};

/* How far a search follows an endpoint's chain: what lies farther back counts as not seen. */
#define LOG_SEARCH_MAX 512

struct log_answer log_search(const struct tcp_store *store, const struct tcp_end *e, uint32_t seq);

/* The loss detail of a flow: the one it has, or NULL; or a new, empty one where it has none. */
struct loss_detail *detail_of(struct tcp_store *store, const struct flow_cold *cold);
struct loss_detail *detail_need(struct flow_table *table, struct flow *flow);
void detail_drop(struct flow_table *table, struct flow *flow);

#endif
