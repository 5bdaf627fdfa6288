/* SPDX-License-Identifier: BSD-2-Clause */
#include "owner/owner_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define WAYS	    8u
#define BUCKETS_MIN 8u
#define READ_TRIES  8u

/* 128 bytes: records do not share a cache line, and the adjacent-line prefetch loads the second line with the first. */
struct owner_slot {
	_Alignas(128) _Atomic uint32_t sequence; /* odd while being written */
	_Atomic uint32_t request_number;
	_Atomic uint64_t words[OWNER_RECORD_WORDS];
};

_Static_assert(sizeof(struct owner_slot) == 128, "a slot is two cache lines");

struct owner_bucket {
	_Alignas(32) _Atomic uint32_t tags[WAYS]; /* 0: free */
};

struct owner_table {
	uint64_t seed;
	uint32_t mask; /* buckets less one */
	struct owner_bucket *buckets;
	struct owner_slot *slots;
	uint64_t *last_used; /* used by the writer: time of last use per slot, in touches */
	uint64_t touches;
};

static uint32_t
owner_table_bucket_count(uint32_t connections)
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
	size_t buckets = owner_table_bucket_count(connections);

	return sizeof(struct owner_table) +
	       buckets * (sizeof(struct owner_bucket) + WAYS * (sizeof(struct owner_slot) + sizeof(uint64_t)));
}

/* Zeroed memory, aligned to the alignment of its element. */
static void *
aligned_calloc(size_t alignment, size_t size)
{
	void *memory = aligned_alloc(alignment, size);

	if (memory != NULL)
		memset(memory, 0, size);
	return memory;
}

struct owner_table *
owner_table_new(uint32_t connections, uint64_t seed)
{
	size_t buckets = owner_table_bucket_count(connections);
	struct owner_table *table = calloc(1, sizeof *table);

	if (table == NULL)
		return NULL;
	table->seed = seed;
	table->mask = (uint32_t)buckets - 1;
	table->buckets = aligned_calloc(_Alignof(struct owner_bucket), buckets * sizeof *table->buckets);
	table->slots = aligned_calloc(_Alignof(struct owner_slot), buckets * WAYS * sizeof *table->slots);
	table->last_used = calloc(buckets * WAYS, sizeof *table->last_used);
	if (table->buckets == NULL || table->slots == NULL || table->last_used == NULL) {
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
	free(table->last_used);
	free(table);
}

uint32_t
owner_table_slot_count_for(uint32_t connections)
{
	return owner_table_bucket_count(connections) * WAYS;
}

uint32_t
owner_table_slot_count(const struct owner_table *table)
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
owner_table_tag(uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	return tag != 0 ? tag : 1;
}

static inline uint32_t
owner_table_bucket_index(const struct owner_table *table, uint64_t hash)
{
	return (uint32_t)hash & table->mask;
}

/*
 * Copies a record unless it is being written.  Fences would be equivalent, but thread sanitizers do not support them:
 * reading a word with acquire makes the later read of the counter at least as new as the write of that word, which was
 * released after the counter became odd.
 */
static enum owner_read_result
owner_slot_read(const struct owner_slot *slot, struct owner_record *record, uint32_t *as_of)
{
	uint64_t words[OWNER_RECORD_WORDS];

	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		uint32_t before = atomic_load_explicit(&slot->sequence, memory_order_acquire);

		if (before & 1)
			continue;
		for (unsigned i = 0; i < OWNER_RECORD_WORDS; i++)
			words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
		*as_of = atomic_load_explicit(&slot->request_number, memory_order_acquire);
		if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) != before)
			continue;
		memcpy(record, words, sizeof words);
		return OWNER_READ_OK;
	}
	return OWNER_READ_TORN;
}

enum owner_read_result
owner_table_read(const struct owner_table *table, uint64_t hash, const struct owner_key *key,
		 struct owner_record *record, uint32_t *slot, uint32_t *as_of)
{
	uint32_t at = owner_table_bucket_index(table, hash), tag = owner_table_tag(hash);
	const struct owner_bucket *bucket = &table->buckets[at];

	for (uint32_t way = 0; way < WAYS; way++) {
		enum owner_read_result result;

		if (atomic_load_explicit(&bucket->tags[way], memory_order_relaxed) != tag)
			continue;
		*slot = at * WAYS + way;
		result = owner_slot_read(&table->slots[*slot], record, as_of);
		/* The tag may be newer or older than its record, or belong to another key: only the record's key is
		 * conclusive. */
		if (result == OWNER_READ_TORN || memcmp(&record->key, key, sizeof *key) == 0)
			return result;
	}
	return OWNER_READ_ABSENT;
}

void
owner_table_copy_record(const struct owner_table *table, uint32_t slot, struct owner_record *record)
{
	uint64_t words[OWNER_RECORD_WORDS];

	for (unsigned i = 0; i < OWNER_RECORD_WORDS; i++)
		words[i] = atomic_load_explicit(&table->slots[slot].words[i], memory_order_relaxed);
	memcpy(record, words, sizeof words);
}

uint32_t
owner_table_claim_slot(struct owner_table *table, uint64_t hash, const struct owner_key *key, enum owner_claim *claim)
{
	uint32_t first = owner_table_bucket_index(table, hash) * WAYS, tag = owner_table_tag(hash), best = first;
	const struct owner_bucket *bucket = &table->buckets[owner_table_bucket_index(table, hash)];
	struct owner_record record;

	*claim = OWNER_CLAIM_EVICTED;
	for (uint32_t way = 0; way < WAYS; way++) {
		uint32_t slot = first + way, found = atomic_load_explicit(&bucket->tags[way], memory_order_relaxed);

		if (found == tag) {
			owner_table_copy_record(table, slot, &record);
			if (memcmp(&record.key, key, sizeof *key) == 0) {
				*claim = OWNER_CLAIM_OWN;
				return slot;
			}
		}
		if (found == 0) {
			*claim = OWNER_CLAIM_FREE;
			return slot; /* slots of a bucket are used in order and never freed */
		}
		if (table->last_used[slot] < table->last_used[best])
			best = slot;
	}
	return best;
}

void
owner_table_write(struct owner_table *table, uint32_t slot, uint64_t hash, const struct owner_record *record,
		  uint32_t as_of)
{
	struct owner_slot *to = &table->slots[slot];
	uint32_t sequence = atomic_load_explicit(&to->sequence, memory_order_relaxed);
	uint64_t words[OWNER_RECORD_WORDS];

	memcpy(words, record, sizeof words);
	atomic_store_explicit(&to->sequence, sequence + 1, memory_order_relaxed);
	for (unsigned i = 0; i < OWNER_RECORD_WORDS; i++)
		atomic_store_explicit(&to->words[i], words[i], memory_order_release);
	atomic_store_explicit(&to->request_number, as_of, memory_order_release);
	atomic_store_explicit(&to->sequence, sequence + 2, memory_order_release);
	atomic_store_explicit(&table->buckets[slot / WAYS].tags[slot % WAYS], owner_table_tag(hash),
			      memory_order_release);
}

void
owner_table_touch(struct owner_table *table, uint32_t slot)
{
	table->last_used[slot] = ++table->touches;
}
