/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/array.h"

#include <stdlib.h>

bool
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
