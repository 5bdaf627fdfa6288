/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of which the beginning is not captured.  One that goes on after its record has ended, because it was idle
 * for long, or was reset and its numbers live on in a new socket, has another record without a beginning: the capture
 * lacks nothing of it.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/verdict/report_facts.h"

/* Records between two ends, at least one of which has no beginning. */
struct report_pair {
	const struct report_record *record; /* one without a beginning; NULL: the slot is free */
	uint64_t first;			    /* start of the first of all records between these ends */
	uint64_t first_open;		    /* of those that have not ended by the FINs of both ends */
};

static bool
report_has_no_beginning(const struct report_record *record)
{
	if (record->protocol == IPPROTO_TCP)
		return (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_SYN) == 0;
	return record->protocol == IPPROTO_SCTP && !record->opened;
}

/* Whether the ends are the same, in whichever roles. */
static bool
report_is_between(const struct report_record *a, const struct report_record *b)
{
	for (size_t first = 0; a->protocol == b->protocol && first < REPORT_ENDS; first++) {
		const struct report_end *one = &b->ends[first], *other = &b->ends[1 - first];

		if (a->ends[0].port == one->port && a->ends[1].port == other->port &&
		    strcmp(a->ends[0].address, one->address) == 0 && strcmp(a->ends[1].address, other->address) == 0)
			return true;
	}
	return false;
}

/* The same for both orders of the ends. */
static uint64_t
report_hash_pair(const struct report_record *record)
{
	uint64_t sum = record->protocol;

	for (size_t e = 0; e < REPORT_ENDS; e++) {
		uint64_t hash = 0xcbf29ce484222325u ^ record->ends[e].port; /* FNV-1a */

		for (const char *at = record->ends[e].address; *at != '\0'; at++)
			hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
		sum += hash;
	}
	return sum * 0x9e3779b97f4a7c15u >> 32;
}

/* The slot of the ends, or the free slot where they belong; `size` is a power of two. */
static struct report_pair *
report_find_pair(struct report_pair *pairs, size_t size, const struct report_record *record)
{
	size_t at = (size_t)report_hash_pair(record) & (size - 1);

	while (pairs[at].record != NULL && !report_is_between(pairs[at].record, record))
		at = (at + 1) & (size - 1);
	return &pairs[at];
}

static void
report_note_start(struct report_pair *pair, const struct report_record *record)
{
	if (record->start < pair->first)
		pair->first = record->start;
	if (record->reason != REPORT_FIN && record->start < pair->first_open)
		pair->first_open = record->start;
}

/* Behind the FINs of both ends what carries data is another connection. */
static bool
report_goes_on(const struct report_pair *pair, const struct report_record *record)
{
	bool data = record->ends[REPORT_CLIENT].bytes + record->ends[REPORT_SERVER].bytes > 0;

	return (data ? pair->first_open : pair->first) < record->start;
}

void
report_beginnings_find(struct report_capture *capture)
{
	struct report_record *list = capture->records.list;
	size_t count = capture->records.count, without = 0, size = 2;
	struct report_pair *pairs;

	for (size_t i = 0; i < count; i++)
		without += report_has_no_beginning(&list[i]);
	if (without == 0)
		return;
	while (size < 2 * without)
		size *= 2;
	pairs = calloc(size, sizeof(*pairs));
	if (pairs == NULL) {
		capture->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (report_has_no_beginning(&list[i]))
			*report_find_pair(pairs, size, &list[i]) =
			    (struct report_pair){&list[i], UINT64_MAX, UINT64_MAX};
	}
	for (size_t i = 0; i < count; i++) {
		struct report_pair *pair = report_find_pair(pairs, size, &list[i]);

		if (pair->record != NULL)
			report_note_start(pair, &list[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!report_has_no_beginning(&list[i]))
			continue;
		list[i].goes_on = report_goes_on(report_find_pair(pairs, size, &list[i]), &list[i]);
		list[i].midstream = !list[i].goes_on;
	}
	free(pairs);
}
