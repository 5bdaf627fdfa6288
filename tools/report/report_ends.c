/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_ends.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Slots of the first table. */
#define SIZE_FIRST 1024u

void
report_rejection_set(struct report_rejection *rejection, uint8_t type, uint8_t code, const char *sender)
{
	bool ipv6 = strchr(sender, ':') != NULL;

	*rejection = (struct report_rejection){.type = type, .code = code};
	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, sender, rejection->sender) == 1)
		rejection->version = ipv6 ? 6 : 4;
}

/* The slot of an id, or the free slot where it belongs.  Consecutive ids are in distant slots (Fibonacci hashing). */
static uint32_t *
report_ends_slot(const struct report_ends *ends, uint64_t cid)
{
	size_t at = (size_t)(cid * 0x9e3779b97f4a7c15u >> 32) & (ends->size - 1);

	while (ends->slots[at] != 0 && ends->list[ends->slots[at] - 1].cid != cid)
		at = (at + 1) & (ends->size - 1);
	return &ends->slots[at];
}

/* Doubles the list and the table, of which at most half of the slots are in use; false if out of memory. */
static bool
report_ends_grow(struct report_ends *ends)
{
	size_t size = ends->size == 0 ? SIZE_FIRST : 2 * ends->size;
	struct report_end_events *list = reallocarray(ends->list, size / 2, sizeof(*list));
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (list != NULL)
		ends->list = list;
	if (list == NULL || slots == NULL) {
		free(slots);
		return false;
	}
	free(ends->slots);
	ends->slots = slots;
	ends->size = size;
	ends->capacity = size / 2;
	for (size_t i = 0; i < ends->count; i++)
		*report_ends_slot(ends, list[i].cid) = (uint32_t)(i + 1);
	return true;
}

struct report_end_events *
report_ends_add(struct report_ends *ends, int64_t cid)
{
	struct report_end_events *end;
	uint32_t *slot;

	if (cid <= 0)
		return NULL;
	if (ends->count == ends->capacity && !report_ends_grow(ends))
		return NULL;
	slot = report_ends_slot(ends, (uint64_t)cid);
	if (*slot != 0)
		return &ends->list[*slot - 1];
	end = &ends->list[ends->count++];
	memset(end, 0, sizeof(*end));
	end->cid = (uint64_t)cid;
	*slot = (uint32_t)ends->count;
	return end;
}

void
report_ends_free(struct report_ends *ends)
{
	free(ends->list);
	free(ends->slots);
}

const struct report_end_events *
report_ends_find(const struct report_ends *ends, uint64_t cid)
{
	static const struct report_end_events none;
	uint32_t slot = ends->size == 0 || cid == 0 ? 0 : *report_ends_slot(ends, cid);

	return slot == 0 ? &none : &ends->list[slot - 1];
}
