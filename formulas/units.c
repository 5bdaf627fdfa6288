/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/units.h"

#include <string.h>
#include <strings.h>

#define KIBI 1024u

/* The table below, for messages. */
#define TIME_UNITS "ns, us, ms, s, min or h"
#define SIZE_UNITS "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"

static const struct unit units[] = {
	{"ns", DIMENSION_TIME, 1},
	{"us", DIMENSION_TIME, 1000},
	{"ms", DIMENSION_TIME, 1000000},
	{"s", DIMENSION_TIME, 1000000000},
	{"min", DIMENSION_TIME, 60000000000},
	{"h", DIMENSION_TIME, 3600000000000},
	{"B", DIMENSION_SIZE, 1},
	{"kB", DIMENSION_SIZE, 1000},
	{"MB", DIMENSION_SIZE, 1000000},
	{"GB", DIMENSION_SIZE, 1000000000},
	{"TB", DIMENSION_SIZE, 1000000000000},
	{"KiB", DIMENSION_SIZE, KIBI},
	{"MiB", DIMENSION_SIZE, KIBI * KIBI},
	{"GiB", DIMENSION_SIZE, KIBI * KIBI * KIBI},
	{"TiB", DIMENSION_SIZE, (uint64_t)KIBI * KIBI * KIBI * KIBI},
};

const struct unit *
unit_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
			return &units[i];
	return NULL;
}

const char *
unit_hint(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strlen(units[i].name) == length && strncasecmp(units[i].name, name, length) == 0)
			return units[i].name;
	return "times have " TIME_UNITS ", sizes " SIZE_UNITS;
}

const char *
dimension_units(enum dimension dimension)
{
	return dimension == DIMENSION_TIME ? TIME_UNITS : SIZE_UNITS;
}

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
