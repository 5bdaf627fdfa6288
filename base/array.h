/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing arrays. */
#ifndef NETOBS_BASE_ARRAY_H
#define NETOBS_BASE_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>

/* Ensures that `*array`, with memory for `*capacity` elements of `size` bytes, can hold `count` + 1.  Both are updated
 * if it grows.  False, with nothing changed, if out of memory. */
static inline bool
array_reserve_one(void **array, size_t count, size_t *capacity, size_t size)
{
	size_t more = *capacity > 0 ? *capacity * 2 : 16;
	void *larger;

	if (count < *capacity)
		return true;
	larger = realloc(*array, more * size);
	if (larger == NULL)
		return false;
	*array = larger;
	*capacity = more;
	return true;
}

#endif
