/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/value_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool
value_table_open(struct value_table *t, uint32_t capacity, size_t value_size, uint32_t lists)
{
	*t = (struct value_table){.value_size = value_size, .capacity = capacity, .bucket_count = 2 * capacity};
	t->removed = NO_ENTRY;
	if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != (ssize_t)sizeof t->seed)
		t->seed = (uint64_t)(uintptr_t)t;
	t->entries = calloc(capacity, sizeof *t->entries);
	t->values = calloc(capacity, value_size + 1);
	t->buckets = malloc(t->bucket_count * sizeof *t->buckets);
	t->lists = malloc(lists * sizeof *t->lists);
	if (t->entries == NULL || t->values == NULL || t->buckets == NULL || t->lists == NULL)
		return false;
	for (uint32_t i = 0; i < t->bucket_count; i++)
		t->buckets[i] = NO_ENTRY;
	for (uint32_t i = 0; i < lists; i++)
		t->lists[i] = (struct value_list){NO_ENTRY, NO_ENTRY, 0};
	return true;
}

void
value_table_close(struct value_table *t)
{
	free(t->entries);
	free(t->values);
	free(t->buckets);
	free(t->lists);
}

uint64_t
value_table_hash(const struct value_table *t, const uint8_t *values)
{
	return XXH3_64bits_withSeed(values, t->value_size, t->seed);
}

uint32_t
value_table_find(const struct value_table *t, const uint8_t *values, uint64_t hash)
{
	uint32_t entry = t->buckets[hash % t->bucket_count];

	while (entry != NO_ENTRY && (t->entries[entry].hash != hash ||
				     memcmp(&t->values[entry * t->value_size], values, t->value_size) != 0))
		entry = t->entries[entry].next;
	return entry;
}

bool
value_table_is_full(const struct value_table *t)
{
	return t->used == t->capacity && t->removed == NO_ENTRY;
}

static void
value_table_unlink(struct value_table *t, uint32_t entry)
{
	struct value_entry *e = &t->entries[entry];
	struct value_list *list = &t->lists[e->list];

	if (e->newer == NO_ENTRY)
		list->newest = e->older;
	else
		t->entries[e->newer].older = e->older;
	if (e->older == NO_ENTRY)
		list->oldest = e->newer;
	else
		t->entries[e->older].newer = e->newer;
	list->count--;
}

static void
value_table_link(struct value_table *t, uint32_t entry, uint32_t number)
{
	struct value_entry *e = &t->entries[entry];
	struct value_list *list = &t->lists[number];

	e->list = number;
	e->newer = NO_ENTRY;
	e->older = list->newest;
	if (list->newest == NO_ENTRY)
		list->oldest = entry;
	else
		t->entries[list->newest].newer = entry;
	list->newest = entry;
	list->count++;
}

uint32_t
value_table_add(struct value_table *t, const uint8_t *values, uint64_t hash, uint32_t list)
{
	uint32_t *bucket = &t->buckets[hash % t->bucket_count], entry = t->removed;

	if (entry == NO_ENTRY)
		entry = t->used++;
	else
		t->removed = t->entries[entry].next;
	t->entries[entry] = (struct value_entry){.hash = hash, .next = *bucket};
	*bucket = entry;
	memcpy(&t->values[entry * t->value_size], values, t->value_size);
	value_table_link(t, entry, list);
	return entry;
}

void
value_table_move(struct value_table *t, uint32_t entry, uint32_t list)
{
	value_table_unlink(t, entry);
	value_table_link(t, entry, list);
}

void
value_table_remove(struct value_table *t, uint32_t entry)
{
	struct value_entry *e = &t->entries[entry];
	uint32_t *at = &t->buckets[e->hash % t->bucket_count];

	while (*at != entry)
		at = &t->entries[*at].next;
	*at = e->next;
	value_table_unlink(t, entry);
	e->next = t->removed;
	t->removed = entry;
}

unsigned
value_table_longest_chain(const struct value_table *t)
{
	unsigned longest = 0;

	for (uint32_t bucket = 0; bucket < t->bucket_count; bucket++) {
		unsigned length = 0;

		for (uint32_t entry = t->buckets[bucket]; entry != NO_ENTRY; entry = t->entries[entry].next)
			length++;
		longest = length > longest ? length : longest;
	}
	return longest;
}
