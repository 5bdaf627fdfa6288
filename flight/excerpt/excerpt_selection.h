/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of connections, by their numbers. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_SELECTION_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One bit for each connection. */
struct excerpt_selection {
	uint8_t *bits;
	size_t size;	/* bytes */
	uint64_t count; /* connections */
};

static inline bool
excerpt_selection_has(const struct excerpt_selection *selection, uint32_t connection)
{
	return connection / 8 < selection->size && (selection->bits[connection / 8] >> connection % 8 & 1) != 0;
}

/* Adds a connection that the set does not have.  False if out of memory. */
static inline bool
excerpt_selection_add(struct excerpt_selection *selection, uint32_t connection)
{
	size_t at = connection / 8;

	if (at >= selection->size) {
		size_t size = (at + 1) * 3 / 2 + 4096;
		uint8_t *larger = realloc(selection->bits, size);

		if (larger == NULL)
			return false;
		memset(larger + selection->size, 0, size - selection->size);
		selection->bits = larger;
		selection->size = size;
	}
	selection->bits[at] |= (uint8_t)(1u << connection % 8);
	selection->count++;
	return true;
}

static inline void
excerpt_selection_remove(struct excerpt_selection *selection, uint32_t connection)
{
	selection->bits[connection / 8] &= (uint8_t) ~(1u << connection % 8);
	selection->count--;
}

#endif
