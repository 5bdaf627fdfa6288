/* SPDX-License-Identifier: BSD-2-Clause */
/* Lookup of a flow by its key, in the slot order that table_internal.h describes.  Inline, because flow_table.c and
 * fastpath.c look up the flow of every packet. */
#ifndef NETOBS_FLOW_TABLE_SLOTS_H
#define NETOBS_FLOW_TABLE_SLOTS_H

#include <endian.h>

#include "flow/table/table_internal.h"

/* The two endpoints of a connection in canonical order, and their hash: for slots.c, and for fastpath.c, which
 * computes the key of every packet. */

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "flow/table/table_internal.h"

static inline uint64_t
key_load_u64(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

/* Whether endpoint a sorts after endpoint b.  Address and port are compared as a pair, so that two sockets of one
 * address are ordered by port, as on loopback. */
static inline bool
key_endpoint_is_greater(const uint8_t *a, uint16_t aport, const uint8_t *b, uint16_t bport)
{
	uint64_t ahead = be64toh(key_load_u64(a)), bhead = be64toh(key_load_u64(b));

	if (ahead != bhead)
		return ahead > bhead;
	ahead = be64toh(key_load_u64(a + 8));
	bhead = be64toh(key_load_u64(b + 8));
	if (ahead != bhead)
		return ahead > bhead;
	return aport > bport;
}

/* The tuple of a packet: source and destination. */
struct flow_tuple {
	const uint8_t *src, *dst;
	uint16_t sport, dport;
	uint8_t protocol, version;
};

static inline void
key_set_ports(struct flow_key *key, uint16_t port0, uint16_t port1, const struct flow_tuple *tuple)
{
	key->port[0] = port0;
	key->port[1] = port1;
	key->protocol = tuple->protocol;
	key->version = tuple->version;
	key->address_space = 0;
}

/* Fills the key without a branch on the order, because that branch is unpredictable.  A socket connected to itself is
 * both endpoints; its packets count as sent by endpoint 0. */
static inline void
flow_key_from_tuple(struct flow_key *key, unsigned *sender, const struct flow_tuple *tuple)
{
	unsigned from = key_endpoint_is_greater(tuple->src, tuple->sport, tuple->dst, tuple->dport);
	uint16_t change;

	memcpy(key->addr[from], tuple->src, 16);
	memcpy(key->addr[from ^ 1], tuple->dst, 16);
	change = (uint16_t)((tuple->sport ^ tuple->dport) & -from);
	key_set_ports(key, tuple->sport ^ change, tuple->dport ^ change, tuple);
	*sender = from;
}

/*
 * XXH3 with a secret seed.  Only 16 bytes of an IPv4 key can be nonzero, 12 of ends and 4 of kind: two words, which is
 * XXH3's shortest path.
 */
static __attribute__((flatten)) uint32_t
key_hash_words(uint64_t ends, uint64_t kind, uint64_t seed)
{
	uint64_t words[2] = {ends, kind};

	return (uint32_t)(XXH3_64bits_withSeed(words, sizeof words, seed) >> 32);
}

static inline uint64_t
key_hash_ports_word(uint16_t space, uint8_t protocol, uint16_t port0, uint16_t port1)
{
	return (uint64_t)space << 48 | (uint64_t)protocol << 32 | (uint64_t)port1 << 16 | port0;
}

/* The words are assembled from the fields: loading them from memory just written in pieces stalls the processor. */
static inline uint32_t
key_hash(const struct flow_table *table, const struct flow_key *key)
{
	uint32_t low, high;

	if (key->version != 4)
		return (uint32_t)(XXH3_64bits_withSeed(key, sizeof *key, table->seed) >> 32);
	memcpy(&low, key->addr[0], sizeof low);
	memcpy(&high, key->addr[1], sizeof high);
	return key_hash_words((uint64_t)high << 32 | low,
			      key_hash_ports_word(key->address_space, key->protocol, key->port[0], key->port[1]),
			      table->seed);
}

/* IPv4 has a function of its own: address and port are compared as one number, and the hashed bytes do not go through
 * memory whose position depends on the order.  Saves 6 of 136 ns a packet. */
static __attribute__((always_inline)) inline uint32_t
key_hash_tuple_ipv4(const struct flow_table *table, struct flow_key *key, unsigned *sender,
		    const struct flow_tuple *tuple)
{
	uint32_t src, dst;
	uint64_t a, b, change, low, high;
	unsigned from;

	memcpy(&src, tuple->src, sizeof src);
	memcpy(&dst, tuple->dst, sizeof dst);
	a = (uint64_t)be32toh(src) << 16 | tuple->sport;
	b = (uint64_t)be32toh(dst) << 16 | tuple->dport;
	from = a > b;
	change = (a ^ b) & -(uint64_t)from;
	low = a ^ change;
	high = b ^ change;
	src = htobe32((uint32_t)(low >> 16));
	dst = htobe32((uint32_t)(high >> 16));
	*sender = from;
	memset(key, 0, sizeof key->addr);
	memcpy(key->addr[0], &src, sizeof src);
	memcpy(key->addr[1], &dst, sizeof dst);
	key_set_ports(key, (uint16_t)low, (uint16_t)high, tuple);
	return key_hash_words((uint64_t)dst << 32 | src,
			      key_hash_ports_word(0, tuple->protocol, (uint16_t)low, (uint16_t)high), table->seed);
}

static inline uint32_t
key_hash_tuple(const struct flow_table *table, struct flow_key *key, unsigned *sender, const struct flow_tuple *tuple)
{
	if (tuple->version == 4)
		return key_hash_tuple_ipv4(table, key, sender, tuple);
	flow_key_from_tuple(key, sender, tuple);
	return key_hash(table, key);
}

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
