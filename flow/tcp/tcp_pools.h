/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of the TCP machine outside the flows, reserved with the table.
 *
 * The send log: one ring for all connections, 16 bytes for each segment that sent sequence space, linked per endpoint
 * from newest to oldest.  The fast path only appends, sequentially.  The log is read when something is retransmitted:
 * when was it last sent, and how often?  Overwritten entries count as not captured.
 *
 * The pool of loss details: memory for connections with a recent loss.  If all are in use the detail that was taken
 * first is reused; its connection then loses evidence for a more precise classification.
 */
#ifndef NETOBS_FLOW_TCP_TCP_POOLS_H
#define NETOBS_FLOW_TCP_TCP_POOLS_H

#include "flow/flow_internal.h"

/* An index is lap << n | place: 31 bits, never 0.  Not every place of n bits is in the ring, so appending skips to the
 * next lap at the end of the ring.  An entry is valid while its index is at most 2^n behind the newest. */
#define LOG_INDEX_MASK 0x7fffffffu

struct log_entry {
	uint32_t seq, end; /* sequence range sent */
	uint32_t us;	   /* time sent */
	uint32_t link;	   /* index of the endpoint's previous entry << 1 | this was a retransmission */
};

_Static_assert(sizeof(struct log_entry) == 16, "four log entries share a cache line");

struct loss_detail;

struct tcp_store {
	struct log_entry *log;
	uint32_t log_entries;
	uint32_t log_mask; /* mask of the place in an index: 2^n - 1, at least log_entries */
	uint32_t log_last; /* index of the newest entry */
	struct loss_detail *details;
	uint32_t detail_count;
	uint32_t detail_top;   /* details from here on were never used */
	uint32_t detail_spare; /* index + 1 of the first free detail below, 0 none */
	uint32_t detail_hand;  /* next detail to reuse */
	uint64_t details_lost; /* details taken from their connections so far */
};

/* Index of the next entry.  The unused places of a lap ensure that an overflow of 31 bits occurs only here. */
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

/* Records that the endpoint has sent [seq, end) at `us`. */
static inline void
log_append(struct tcp_store *store, struct tcp_end *e, uint32_t seq, uint32_t end, uint32_t us, bool again)
{
	uint32_t index = log_next(store);
	struct log_entry *entry = &store->log[index & store->log_mask];

	*entry = (struct log_entry){.seq = seq, .end = end, .us = us, .link = e->sent << 1 | again};
	store->log_last = index;
	e->sent = index;
}

/* The entry of an index; NULL if there is none or it has been overwritten. */
static inline const struct log_entry *
log_entry(const struct tcp_store *store, uint32_t index)
{
	if (index == 0 || ((store->log_last - index) & LOG_INDEX_MASK) > store->log_mask)
		return NULL;
	return &store->log[index & store->log_mask];
}

/* What the log knows of one sequence number. */
struct log_answer {
	bool seen;	/* its transmission was captured */
	uint32_t us;	/* time of the last transmission */
	uint32_t count; /* number of transmissions */
	uint32_t begin; /* start of the segment that sent it first, as far as the log reaches */
};

/* Most entries of an endpoint's chain that a search follows; older ones count as not captured. */
#define LOG_SEARCH_MAX 512

struct log_answer log_search(const struct tcp_store *store, const struct tcp_end *e, uint32_t seq);

/* The loss detail of a flow.  detail_of() returns NULL if it has none; detail_need() creates one. */
struct loss_detail *detail_of(struct tcp_store *store, const struct flow_cold *cold);
struct loss_detail *detail_need(struct flow_table *table, struct flow *flow);
void detail_drop(struct flow_table *table, struct flow *flow);

#endif
