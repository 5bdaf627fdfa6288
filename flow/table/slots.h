/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-up of a flow by its key, in the slot order that table.h describes.  Included by slots.c and wheel.c, which looks
 * up the flow of every packet. */
#ifndef NETOBS_FLOW_TABLE_SLOTS_H
#define NETOBS_FLOW_TABLE_SLOTS_H

#include "flow/table/table_internal.h"

static inline uint64_t
slot_of(uint32_t hash, flow_index index)
{
	return (uint64_t)hash << 32 | index;
}

/* Scales the hash to the number of home slots, which therefore need not be a power of two.  The hash is inverted so
 * that homes ascend while slot values descend: a free slot, 0, is then smaller than any other and ends every search. */
static inline uint32_t
home_of(const struct flow_table *table, uint32_t hash)
{
	return (uint32_t)((uint64_t)~hash * table->homes >> 32);
}

/* First slot that is not above `slot`: nearly always one of the first six.  Counting the larger ones costs less than a
 * loop with an unpredictable exit: 8 against 16 ns a search in a small table. */
static inline uint64_t *
first_not_above(const struct flow_table *table, uint32_t hash, uint64_t slot)
{
	uint64_t *at = &table->slots[home_of(table, hash)];

	at += (at[0] > slot) + (at[1] > slot) + (at[2] > slot) + (at[3] > slot) + (at[4] > slot) + (at[5] > slot);
	while (__builtin_expect(*at > slot, 0))
		at++;
	return at;
}

static inline void
prefetch_slot(const struct flow_table *table, uint32_t hash)
{
	__builtin_prefetch(&table->slots[home_of(table, hash)]);
}

static inline struct flow *
prefetch_flow(const struct flow_table *table, uint32_t hash)
{
	const uint64_t *at = first_not_above(table, hash, slot_of(hash, UINT32_MAX));
	struct flow *near;

	if (*at < slot_of(hash, 1))
		return NULL;
	near = &table->hot[(flow_index)*at];
	__builtin_prefetch(near);
	__builtin_prefetch(&near->tcp[0]);
	__builtin_prefetch(&near->tcp[1]);
	return near;
}

static inline void
prefetch_cold(const struct flow_table *table, const struct flow *near)
{
	const struct flow_cold *cold = &table->cold[index_of(table, near)];

	__builtin_prefetch(cold);
	__builtin_prefetch((const char *)(cold + 1) - 1);
}

/* Prefetch the list neighbours that unlinking this flow writes to. */
static inline void
prefetch_neighbours(const struct flow_table *table, const struct flow *near)
{
	const struct flow_cold *cold = &table->cold[index_of(table, near)];

	__builtin_prefetch(&table->cold[cold->class_next]);
	__builtin_prefetch(&table->cold[cold->class_prev]);
	__builtin_prefetch(&table->cold[cold->wheel_next]);
	__builtin_prefetch(&table->cold[cold->wheel_prev]);
}

static inline uint64_t
word_of(const struct flow_key *key, unsigned i)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)key + i * sizeof word, sizeof word);
	return word;
}

/* Compares word by word: with arrays of words gcc copies them to the stack first. */
static inline bool
key_equal(const struct flow_key *a, const struct flow_key *b)
{
	return ((word_of(a, 0) ^ word_of(b, 0)) | (word_of(a, 1) ^ word_of(b, 1)) | (word_of(a, 2) ^ word_of(b, 2)) |
		(word_of(a, 3) ^ word_of(b, 3)) | (word_of(a, 4) ^ word_of(b, 4))) == 0;
}

static inline struct flow *
slots_find(struct flow_table *table, const struct flow_key *key, uint32_t hash)
{
	const uint64_t *at = first_not_above(table, hash, slot_of(hash, UINT32_MAX));

	for (; *at >= slot_of(hash, 1); at++) {
		struct flow *flow = &table->hot[(flow_index)*at];

		if (key_equal(&flow->key, key))
			return flow;
	}
	return NULL;
}

/* Tries the candidate of flow_prefetch() first, which nearly always is the flow.  A removed flow matches no key. */
static inline struct flow *
slots_find_expected(struct flow_table *table, const struct flow_key *key, uint32_t hash)
{
	struct flow *expected = table->expected;

	if (expected != NULL && __builtin_expect(key_equal(&expected->key, key), 1))
		return expected;
	return slots_find(table, key, hash);
}

#endif
