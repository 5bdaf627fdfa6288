/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_talkers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Slots at first; twice as many whenever half of them are in use. */
#define TALKER_SLOTS_FIRST 1024u

/* Addresses by their text: a slot without an address is free.  The hash has a secret seed, so a capture cannot choose
 * addresses whose probe sequences are long. */
struct talker_table {
	struct report_talker *slots;
	size_t size, used; /* size is a power of two */
	uint64_t seed;
};

/* The slot of an address, or the free one where it belongs. */
static struct report_talker *
talker_table_slot(const struct talker_table *table, const char *address)
{
	size_t at = XXH3_64bits_withSeed(address, strlen(address), table->seed) & (table->size - 1);

	while (table->slots[at].address != NULL && strcmp(table->slots[at].address, address) != 0)
		at = (at + 1) & (table->size - 1);
	return &table->slots[at];
}

/* Moves the addresses to a table with `size` slots; false if out of memory. */
static bool
talker_table_resize(struct talker_table *table, size_t size)
{
	struct talker_table larger = {.size = size, .used = table->used, .seed = table->seed};

	larger.slots = calloc(size, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return false;
	for (size_t i = 0; i < table->size; i++) {
		if (table->slots[i].address != NULL)
			*talker_table_slot(&larger, table->slots[i].address) = table->slots[i];
	}
	free(table->slots);
	*table = larger;
	return true;
}

/* Adds the bytes of an end to its address, and a number of connections; false if out of memory. */
static bool
talker_table_add(struct talker_table *table, const struct report_end *end, const struct report_end *peer,
		 unsigned connections)
{
	struct report_talker *talker;

	if (2 * table->used >= table->size && !talker_table_resize(table, 2 * table->size))
		return false;
	talker = talker_table_slot(table, end->address);
	if (talker->address == NULL) {
		talker->address = end->address;
		table->used++;
	}
	talker->sent += end->bytes;
	talker->received += peer->bytes;
	talker->connections += connections;
	return true;
}

static bool
talker_table_fill(struct talker_table *table, const struct report_records *records)
{
	if (!talker_table_resize(table, TALKER_SLOTS_FIRST))
		return false;
	for (size_t i = 0; i < records->count; i++) {
		const struct report_end *ends = records->list[i].ends;
		bool other = strcmp(ends[REPORT_CLIENT].address, ends[REPORT_SERVER].address) != 0;

		/* A connection of an address with itself counts once. */
		if (!talker_table_add(table, &ends[REPORT_CLIENT], &ends[REPORT_SERVER], 1) ||
		    !talker_table_add(table, &ends[REPORT_SERVER], &ends[REPORT_CLIENT], other))
			return false;
	}
	return true;
}

static bool
talker_is_before(const struct report_talker *a, const struct report_talker *b)
{
	uint64_t a_bytes = a->sent + a->received, b_bytes = b->sent + b->received;

	return a_bytes != b_bytes ? a_bytes > b_bytes : strcmp(a->address, b->address) < 0;
}

/* Inserts a talker into a sorted list of at most REPORT_TALKERS; returns the new length. */
static size_t
talker_insert(struct report_talker *list, size_t count, const struct report_talker *talker)
{
	size_t place = count;

	while (place > 0 && talker_is_before(talker, &list[place - 1]))
		place--;
	if (place == REPORT_TALKERS)
		return count;
	if (count < REPORT_TALKERS)
		count++;
	memmove(&list[place + 1], &list[place], (count - 1 - place) * sizeof(*list));
	list[place] = *talker;
	return count;
}

size_t
report_talkers_find(const struct report_records *records, struct report_talker talkers[REPORT_TALKERS], bool *all)
{
	struct talker_table table = {0};
	size_t count = 0;

	*all = getrandom(&table.seed, sizeof(table.seed), 0) == sizeof(table.seed) &&
	       talker_table_fill(&table, records);
	for (size_t i = 0; *all && i < table.size; i++) {
		if (table.slots[i].address != NULL)
			count = talker_insert(talkers, count, &table.slots[i]);
	}
	free(table.slots);
	return count;
}
