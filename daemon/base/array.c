/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/array.h"

#include <stdlib.h>

bool
array_reserve_one(void **array, size_t count, size_t *room, size_t size)
{
	size_t more = *room > 0 ? *room * 2 : 16;
	void *larger;

	if (count < *room)
		return true;
	larger = realloc(*array, more * size);
	if (larger == NULL)
		return false;
	*array = larger;
	*room = more;
	return true;
}
