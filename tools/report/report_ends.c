/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_ends.h"

#include <stdlib.h>

/* Entries of the first table. */
#define SIZE_FIRST 1024u

/* The slot of an id, or the free slot where it belongs.  Consecutive ids are in distant slots (Fibonacci hashing). */
static struct report_end_events *
report_ends_slot(const struct report_ends *ends, uint64_t cid)
{
	size_t at = (size_t)(cid * 0x9e3779b97f4a7c15u >> 32) & (ends->size - 1);

	while (ends->list[at].cid != 0 && ends->list[at].cid != cid)
		at = (at + 1) & (ends->size - 1);
	return &ends->list[at];
}

/* Doubles the table; false if out of memory. */
static bool
report_ends_grow(struct report_ends *ends)
{
	struct report_ends grown = {.size = ends->size == 0 ? SIZE_FIRST : 2 * ends->size, .count = ends->count};

	grown.list = calloc(grown.size, sizeof(*grown.list));
	if (grown.list == NULL)
		return false;
	for (size_t i = 0; i < ends->size; i++) {
		if (ends->list[i].cid != 0)
			*report_ends_slot(&grown, ends->list[i].cid) = ends->list[i];
	}
	free(ends->list);
	*ends = grown;
	return true;
}

struct report_end_events *
report_ends_of(struct report_ends *ends, int64_t cid)
{
	struct report_end_events *end;

	if (cid <= 0)
		return NULL;
	/* At most half of the slots are in use. */
	if (2 * ends->count >= ends->size && !report_ends_grow(ends))
		return NULL;
	end = report_ends_slot(ends, (uint64_t)cid);
	if (end->cid == 0) {
		end->cid = (uint64_t)cid;
		ends->count++;
	}
	return end;
}

const struct report_end_events *
report_ends_find(const struct report_ends *ends, uint64_t cid)
{
	static const struct report_end_events none;

	return ends->size == 0 || cid == 0 ? &none : report_ends_slot(ends, cid);
}
