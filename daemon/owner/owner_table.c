/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/owner/owner_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define WAYS 8u
#define BUCKETS_MIN 8u
#define READ_TRIES 8u

/* 128 bytes: records do not share a cache line, and the adjacent-line prefetch loads the second line with the first. */
struct slot {
	_Alignas(128) _Atomic uint32_t sequence; /* odd while being written */
	_Atomic uint32_t as_of;
	_Atomic uint64_t words[OWNER_RECORD_WORDS];
};

_Static_assert(sizeof(struct slot) == 128, "a slot is two cache lines");

struct bucket {
	_Alignas(32) _Atomic uint32_t tags[WAYS]; /* 0: free */
};

struct owner_table {
	uint64_t seed;
	uint32_t mask; /* buckets less one */
	struct bucket *buckets;
	struct slot *slots;
	uint64_t *touched; /* used by the writer: time of last use per slot, in touches */
	uint64_t touches;
};

static uint32_t
bucket_count(uint32_t connections)
{
	uint32_t buckets = BUCKETS_MIN;

	/* At most half full; otherwise too many buckets overflow. */
	while (buckets < UINT32_MAX / WAYS / 2 && buckets * WAYS / 2 < connections)
		buckets *= 2;
	return buckets;
}

size_t
owner_table_memory(uint32_t connections)
{
	size_t buckets = bucket_count(connections);

	return sizeof(struct owner_table) +
	       buckets * (sizeof(struct bucket) + WAYS * (sizeof(struct slot) + sizeof(uint64_t)));
}

/* Zeroed memory, aligned to the alignment of its element. */
static void *
aligned_zeros(size_t alignment, size_t size)
{
	void *memory = aligned_alloc(alignment, size);

	if (memory != NULL)
		memset(memory, 0, size);
	return memory;
}

struct owner_table *
owner_table_new(uint32_t connections, uint64_t seed)
{
	size_t buckets = bucket_count(connections);
	struct owner_table *table = calloc(1, sizeof *table);

	if (table == NULL)
		return NULL;
	table->seed = seed;
	table->mask = (uint32_t)buckets - 1;
	table->buckets = aligned_zeros(_Alignof(struct bucket), buckets * sizeof *table->buckets);
	table->slots = aligned_zeros(_Alignof(struct slot), buckets * WAYS * sizeof *table->slots);
	table->touched = calloc(buckets * WAYS, sizeof *table->touched);
	if (table->buckets == NULL || table->slots == NULL || table->touched == NULL) {
		owner_table_free(table);
		return NULL;
	}
	return table;
}

void
owner_table_free(struct owner_table *table)
{
	if (table == NULL)
		return;
	free(table->buckets);
	free(table->slots);
	free(table->touched);
	free(table);
}

uint32_t
owner_table_slots_for(uint32_t connections)
{
	return bucket_count(connections) * WAYS;
}

uint32_t
owner_table_slots(const struct owner_table *table)
{
	return (table->mask + 1) * WAYS;
}

uint64_t
owner_table_hash(const struct owner_table *table, const struct owner_key *key)
{
	return XXH3_64bits_withSeed(key, sizeof *key, table->seed);
}

/* The low bits of the hash select the bucket, so the tag is taken from the high bits. */
static inline uint32_t
tag_of(uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	return tag != 0 ? tag : 1;
}

static inline uint32_t
bucket_of(const struct owner_table *table, uint64_t hash)
{
	return (uint32_t)hash & table->mask;
}

/*
 * Copies a record unless it is being written.  Fences would be equivalent, but thread sanitizers do not support them:
 * reading a word with acquire makes the later read of the counter at least as new as the write of that word, which was
 * released after the counter became odd.
 */
static enum owner_read
read_slot(const struct slot *slot, struct owner_record *record, uint32_t *as_of)
{
	uint64_t words[OWNER_RECORD_WORDS];

	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		uint32_t before = atomic_load_explicit(&slot->sequence, memory_order_acquire);

		if (before & 1)
			continue;
		for (unsigned i = 0; i < OWNER_RECORD_WORDS; i++)
			words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
		*as_of = atomic_load_explicit(&slot->as_of, memory_order_acquire);
		if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != before)
			continue;
		memcpy(record, words, sizeof words);
		return OWNER_READ_DONE;
	}
	return OWNER_READ_TORN;
}

enum owner_read
owner_table_read(const struct owner_table *table, uint64_t hash, const struct owner_key *key,
		 struct owner_record *record, uint32_t *slot, uint32_t *as_of)
{
	uint32_t at = bucket_of(table, hash), tag = tag_of(hash);
	const struct bucket *bucket = &table->buckets[at];

	for (uint32_t way = 0; way < WAYS; way++) {
		enum owner_read result;

		if (atomic_load_explicit(&bucket->tags[way], memory_order_relaxed) != tag)
			continue;
		*slot = at * WAYS + way;
		result = read_slot(&table->slots[*slot], record, as_of);
		/* The tag may be newer or older than its record, or belong to another key: only the record's key is
		 * conclusive. */
		if (result == OWNER_READ_TORN || memcmp(&record->key, key, sizeof *key) == 0)
			return result;
	}
	return OWNER_READ_ABSENT;
}

void
owner_table_peek(const struct owner_table *table, uint32_t slot, struct owner_record *record)
{
	uint64_t words[OWNER_RECORD_WORDS];

	for (unsigned i = 0; i < OWNER_RECORD_WORDS; i++)
		words[i] = atomic_load_explicit(&table->slots[slot].words[i], memory_order_relaxed);
	memcpy(record, words, sizeof words);
}

uint32_t
owner_table_place(struct owner_table *table, uint64_t hash, const struct owner_key *key, enum owner_place *taken)
{
	uint32_t first = bucket_of(table, hash) * WAYS, tag = tag_of(hash), best = first;
	const struct bucket *bucket = &table->buckets[bucket_of(table, hash)];
	struct owner_record record;

	*taken = OWNER_PLACE_EVICTED;
	for (uint32_t way = 0; way < WAYS; way++) {
		uint32_t slot = first + way, found = atomic_load_explicit(&bucket->tags[way], memory_order_relaxed);

		if (found == tag) {
			owner_table_peek(table, slot, &record);
			if (memcmp(&record.key, key, sizeof *key) == 0) {
				*taken = OWNER_PLACE_OWN;
				return slot;
			}
		}
		if (found == 0) {
			*taken = OWNER_PLACE_FREE;
			return slot; /* slots of a bucket are used in order and never freed */
		}
		if (table->touched[slot] < table->touched[best])
			best = slot;
	}
	return best;
}

void
owner_table_write(struct owner_table *table, uint32_t slot, uint64_t hash, const struct owner_record *record,
		  uint32_t as_of)
{
	struct slot *to = &table->slots[slot];
	uint32_t sequence = atomic_load_explicit(&to->sequence, memory_order_relaxed);
	uint64_t words[OWNER_RECORD_WORDS];

	memcpy(words, record, sizeof words);
	atomic_store_explicit(&to->sequence, sequence + 1, memory_order_relaxed);
	for (unsigned i = 0; i < OWNER_RECORD_WORDS; i++)
		atomic_store_explicit(&to->words[i], words[i], memory_order_release);
	atomic_store_explicit(&to->as_of, as_of, memory_order_release);
	atomic_store_explicit(&to->sequence, sequence + 2, memory_order_release);
	atomic_store_explicit(&table->buckets[slot / WAYS].tags[slot % WAYS], tag_of(hash), memory_order_release);
}

void
owner_table_touch(struct owner_table *table, uint32_t slot)
{
	table->touched[slot] = ++table->touches;
}
