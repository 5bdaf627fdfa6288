/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/units.h"

enum dimension
field_dimension(enum field_unit unit)
{
	switch (unit) {
	case UNIT_NS:
	case UNIT_US:
	case UNIT_MS:
		return DIMENSION_TIME;
	case UNIT_BYTES:
		return DIMENSION_SIZE;
	case UNIT_NONE:
		break;
	}
	return DIMENSION_NONE;
}

uint64_t
field_unit_factor(enum field_unit unit)
{
	return unit == UNIT_US ? 1000 : unit == UNIT_MS ? 1000000 : 1;
}

const char *
field_unit_name(enum field_unit unit)
{
	static const char *const names[] = {
		[UNIT_NONE] = "", [UNIT_NS] = "ns", [UNIT_US] = "us", [UNIT_MS] = "ms", [UNIT_BYTES] = "bytes"};

	return names[unit];
}
