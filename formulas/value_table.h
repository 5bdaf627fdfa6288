/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded set of values of fields, by hash, whose entries are in lists.
 *
 * Entries have numbers below the capacity, so that a user can keep more about each of them in arrays.  An entry is in
 * one of the lists, which keep the order in which their entries were added or moved.  The seed of the hash is random:
 * traffic cannot be made to fill one bucket.
 */
#ifndef NETOBS_FORMULAS_VALUE_TABLE_H
#define NETOBS_FORMULAS_VALUE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_ENTRY UINT32_MAX

struct value_entry {
	uint64_t hash;
	uint32_t next;		/* in the bucket */
	uint32_t newer, older;	/* in the list */
	uint32_t list;
};

struct value_list {
	uint32_t newest, oldest; /* NO_ENTRY: the list is empty */
	uint32_t count;
};

struct value_table {
	uint64_t seed;
	size_t value_size; /* bytes of the values of an entry */
	uint32_t capacity, used, bucket_count;
	uint32_t removed; /* entries below `used` that are not in use, linked by `next` */
	struct value_entry *entries;
	uint8_t *values;
	uint32_t *buckets;
	struct value_list *lists;
};

/* Makes an empty table with `lists` lists.  False if out of memory; value_table_close() is then needed, too. */
bool value_table_open(struct value_table *table, uint32_t capacity, size_t value_size, uint32_t lists);
void value_table_close(struct value_table *table);

uint64_t value_table_hash(const struct value_table *table, const uint8_t *values);

/* The entry of these values, whose hash is `hash`; NO_ENTRY if there is none. */
uint32_t value_table_find(const struct value_table *table, const uint8_t *values, uint64_t hash);

/* Whether there are as many entries as there can be. */
bool value_table_is_full(const struct value_table *table);

/* Adds an entry as the newest of a list to a table that is not full and does not have these values. */
uint32_t value_table_add(struct value_table *table, const uint8_t *values, uint64_t hash, uint32_t list);

/* Makes an entry the newest of a list. */
void value_table_move(struct value_table *table, uint32_t entry, uint32_t list);

void value_table_remove(struct value_table *table, uint32_t entry);

/* The entries in the fullest bucket, with which values are compared at most.  For tests. */
unsigned value_table_longest_chain(const struct value_table *table);

#endif
