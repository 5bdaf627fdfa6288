/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/field_values.h"

#include <string.h>

bool
field_values_read(struct firing *firing, const struct field_place *places, unsigned count, uint8_t *values)
{
	for (unsigned i = 0; i < count; i++) {
		const struct field_place *place = &places[i];
		const uint8_t *argument = firing_argument(firing, place->position);
		size_t length;

		if (argument == NULL)
			return false;
		argument += place->offset;
		length = place->is_text ? strnlen((const char *)argument, place->size) : place->size;
		memcpy(values, argument, length);
		memset(values + length, 0, place->size - length);
		values += place->size;
	}
	return true;
}
