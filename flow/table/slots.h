/* SPDX-License-Identifier: BSD-2-Clause */
/* Lookup of a flow by its key, in the slot order that table_internal.h describes.  Inline, because timer_wheel.c and
 * fastpath.c look up the flow of every packet. */
#ifndef NETOBS_FLOW_TABLE_SLOTS_H
#define NETOBS_FLOW_TABLE_SLOTS_H

#include "flow/table/table_internal.h"

static inline uint64_t
slot_pack(uint32_t hash, flow_index index)
{
	return (uint64_t)hash << 32 | index;
}

/* Scales the hash to the number of home slots, which therefore need not be a power of two.  The hash is inverted so
 * that home slots ascend while slot values descend: a free slot, 0, is then smaller than any other and ends every
 * lookup. */
static inline uint32_t
slot_home(const struct flow_table *table, uint32_t hash)
{
	return (uint32_t)((uint64_t)~hash * table->home_slots >> 32);
}

/* Slots that every lookup reads; they may be in two cache lines. */
#define SLOTS_COUNTED 6

/* First slot that is not above `slot`: nearly always one of the first six.  Counting the larger ones costs less than a
 * loop with an unpredictable exit: 8 against 16 ns a lookup in a small table. */
static inline uint64_t *
slots_lower_bound(const struct flow_table *table, uint32_t hash, uint64_t slot)
{
	uint64_t *at = &table->slots[slot_home(table, hash)];

	at += (at[0] > slot) + (at[1] > slot) + (at[2] > slot) + (at[3] > slot) + (at[4] > slot) + (at[5] > slot);
	while (__builtin_expect(*at > slot, 0))
		at++;
	return at;
}

static inline void
slots_prefetch_home(const struct flow_table *table, uint32_t hash)
{
	const uint64_t *home = &table->slots[slot_home(table, hash)];

	__builtin_prefetch(home);
	__builtin_prefetch(home + SLOTS_COUNTED - 1);
}

static inline struct flow *
slots_prefetch_candidate(const struct flow_table *table, uint32_t hash)
{
	const uint64_t *at = slots_lower_bound(table, hash, slot_pack(hash, UINT32_MAX));
	struct flow *candidate;

	if (*at < slot_pack(hash, 1))
		return NULL;
	candidate = &table->hot[(flow_index)*at];
	__builtin_prefetch(candidate);
	__builtin_prefetch(&candidate->tcp[0]);
	__builtin_prefetch(&candidate->tcp[1]);
	return candidate;
}

static inline void
flow_cold_prefetch(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_cold *cold = &table->cold[flow_index_of(table, flow)];

	__builtin_prefetch(cold);
	__builtin_prefetch((const char *)(cold + 1) - 1);
}

/* Prefetches the list neighbours that unlinking this flow writes to. */
static inline void
flow_cold_prefetch_links(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_cold *cold = &table->cold[flow_index_of(table, flow)];

	__builtin_prefetch(&table->cold[cold->evict_next]);
	__builtin_prefetch(&table->cold[cold->evict_prev]);
	__builtin_prefetch(&table->cold[cold->wheel_next]);
	__builtin_prefetch(&table->cold[cold->wheel_prev]);
}

static inline uint64_t
flow_key_word(const struct flow_key *key, unsigned i)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)key + i * sizeof word, sizeof word);
	return word;
}

/* Compares word by word: with arrays of words gcc copies them to the stack first. */
static inline bool
flow_key_equal(const struct flow_key *a, const struct flow_key *b)
{
	return ((flow_key_word(a, 0) ^ flow_key_word(b, 0)) | (flow_key_word(a, 1) ^ flow_key_word(b, 1)) |
		(flow_key_word(a, 2) ^ flow_key_word(b, 2)) | (flow_key_word(a, 3) ^ flow_key_word(b, 3)) |
		(flow_key_word(a, 4) ^ flow_key_word(b, 4))) == 0;
}

static inline struct flow *
slots_lookup(struct flow_table *table, const struct flow_key *key, uint32_t hash)
{
	const uint64_t *at = slots_lower_bound(table, hash, slot_pack(hash, UINT32_MAX));

	for (; *at >= slot_pack(hash, 1); at++) {
		struct flow *flow = &table->hot[(flow_index)*at];

		if (flow_key_equal(&flow->key, key))
			return flow;
	}
	return NULL;
}

/*
 * Tries the candidate of flow_table_set_candidate() first, which nearly always is the flow.  A removed flow
 * matches no key.
 */
static inline struct flow *
slots_lookup_candidate(struct flow_table *table, const struct flow_key *key, uint32_t hash)
{
	struct flow *candidate = table->candidate;

	if (candidate != NULL && __builtin_expect(flow_key_equal(&candidate->key, key), 1))
		return candidate;
	return slots_lookup(table, key, hash);
}

#endif
