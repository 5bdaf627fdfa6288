/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of replies about endpoints: written by one thread, read by another that never waits.
 *
 * A bucket has eight tags, half a cache line; each tag leads to a record of two cache lines.  A record has a sequence
 * counter that is odd while the record is written.  Everything is stored as atomic words, so a torn read is detected
 * and is not undefined behaviour.
 */
#ifndef NETOBS_OWNER_OWNER_TABLE_H
#define NETOBS_OWNER_OWNER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/owner.h"

/* Content of a slot.  No padding: it is copied as words. */
struct owner_record {
	struct owner_key key;
	uint64_t queried_ns;
	struct owner_tcp tcp;
	int32_t pid;
	uint32_t uid;
	uint32_t flags;
	char comm[16];
	uint32_t unused; /* 0: with it a record has no padding, and records compare as bytes */
};

#define OWNER_RECORD_WORDS 13
_Static_assert(sizeof(struct owner_record) == OWNER_RECORD_WORDS * sizeof(uint64_t), "a record is whole words");

struct owner_table;

enum owner_read_result {
	OWNER_READ_ABSENT,
	OWNER_READ_TORN, /* it was being written at each attempt */
	OWNER_READ_OK,
};

/* A table for at least `connections` records.  NULL if out of memory. */
struct owner_table *owner_table_new(uint32_t connections, uint64_t seed);
void owner_table_free(struct owner_table *table);
size_t owner_table_memory(uint32_t connections);

/* Slots are numbered from 0; their number is a power of two, and 64 at least. */
uint32_t owner_table_slot_count(const struct owner_table *table);
uint32_t owner_table_slot_count_for(uint32_t connections);

uint64_t owner_table_hash(const struct owner_table *table, const struct owner_key *key);

/* Reader.  `*as_of` is the number of the last request taken when the kernel gave this reply. */
enum owner_read_result owner_table_read(const struct owner_table *table, uint64_t hash, const struct owner_key *key,
					struct owner_record *record, uint32_t *slot, uint32_t *as_of);

/* Writer: finds or allocates the slot of a key.  `*claim` is a free slot, the key's own, or one evicted from another
 * key.  The record is not changed. */
enum owner_claim {
	OWNER_CLAIM_OWN,
	OWNER_CLAIM_FREE,
	OWNER_CLAIM_EVICTED,
};

uint32_t owner_table_claim_slot(struct owner_table *table, uint64_t hash, const struct owner_key *key,
				enum owner_claim *claim);

/* Writer: copies the record of a slot as last written; its key is valid if the slot was ever written. */
void owner_table_copy_record(const struct owner_table *table, uint32_t slot, struct owner_record *record);

/* Writer: stores a record; `hash` is that of record->key. */
void owner_table_write(struct owner_table *table, uint32_t slot, uint64_t hash, const struct owner_record *record,
		       uint32_t as_of);

/* Writer: marks the slot as used.  The least recently used slot is evicted first. */
void owner_table_touch(struct owner_table *table, uint32_t slot);

#endif
