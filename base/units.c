/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KIB UNITS_KIB

/* The table below, for messages. */
#define TIME_UNITS "ns, us, ms, s, m, min, h or d"
#define SIZE_UNITS "B, k, K, M, G, T, kB, MB, GB, TB, KiB, MiB, GiB or TiB"

/* A letter alone is a power of 1024, as for dd(1) and head(1). */
static const struct unit units[] = {
    {"ns", DIMENSION_TIME, 1},
    {"us", DIMENSION_TIME, 1000},
    {"ms", DIMENSION_TIME, 1000000},
    {"s", DIMENSION_TIME, UNITS_SECOND},
    {"m", DIMENSION_TIME, UNITS_MINUTE},
    {"min", DIMENSION_TIME, UNITS_MINUTE},
    {"h", DIMENSION_TIME, UNITS_HOUR},
    {"d", DIMENSION_TIME, UNITS_DAY},
    {"B", DIMENSION_SIZE, 1},
    {"kB", DIMENSION_SIZE, 1000},
    {"MB", DIMENSION_SIZE, 1000000},
    {"GB", DIMENSION_SIZE, 1000000000},
    {"TB", DIMENSION_SIZE, 1000000000000},
    {"KiB", DIMENSION_SIZE, KIB},
    {"MiB", DIMENSION_SIZE, KIB * KIB},
    {"GiB", DIMENSION_SIZE, KIB * KIB * KIB},
    {"TiB", DIMENSION_SIZE, KIB * KIB * KIB * KIB},
    {"k", DIMENSION_SIZE, KIB},
    {"K", DIMENSION_SIZE, KIB},
    {"M", DIMENSION_SIZE, KIB * KIB},
    {"G", DIMENSION_SIZE, KIB * KIB * KIB},
    {"T", DIMENSION_SIZE, KIB * KIB * KIB * KIB},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

const struct unit *
unit_find(const char *name, size_t length)
{
	for (size_t i = 0; i < UNIT_COUNT; i++)
		if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
			return &units[i];
	return NULL;
}

const char *
unit_hint(const char *name, size_t length)
{
	for (size_t i = 0; i < UNIT_COUNT; i++)
		if (strlen(units[i].name) == length && strncasecmp(units[i].name, name, length) == 0)
			return units[i].name;
	return "times have " TIME_UNITS ", sizes " SIZE_UNITS;
}

const char *
dimension_units(enum dimension dimension)
{
	return dimension == DIMENSION_TIME ? TIME_UNITS : SIZE_UNITS;
}

bool
units_multiply(const char *number, size_t length, uint64_t factor, uint64_t *value, bool *exact)
{
	const char *point = memchr(number, '.', length);
	size_t whole = point != NULL ? (size_t)(point - number) : length;
	uint64_t fraction = 0;

	*value = 0;
	*exact = true;
	for (size_t i = 0; i < whole; i++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(number[i] - '0'), value))
			return false;
	/* From the last digit on: what is less than one does not come back. */
	for (size_t i = length; i > whole + 1; i--) {
		fraction += (uint64_t)(number[i - 1] - '0') * factor;
		*exact = *exact && fraction % 10 == 0;
		fraction /= 10;
	}
	return !__builtin_mul_overflow(*value, factor, value) && !__builtin_add_overflow(*value, fraction, value);
}

/* Without a check of the range.  A unit of the other dimension is not a unit here. */
static bool
units_read(const struct quantity *quantity, const char *text, uint64_t *value)
{
	size_t length = strspn(text, "0123456789"), fraction = 0;
	const struct unit *unit;
	uint64_t factor = quantity->plain;
	bool exact;

	if (text[length] == '.')
		fraction = 1 + strspn(text + length + 1, "0123456789");
	if (length + (fraction > 0 ? fraction - 1 : 0) == 0)
		return false;
	length += fraction;
	if (text[length] != '\0') {
		unit = unit_find(text + length, strlen(text + length));
		if (unit == NULL || unit->dimension != quantity->dimension)
			return false;
		factor = unit->factor;
	}
	if (factor == 0) {
		*value = 0;
		return quantity->or_zero && strspn(text, "0.") == length;
	}
	/* 0.1ns is not 0, which may be another thing than a short time. */
	return units_multiply(text, length, factor, value, &exact) && (*value != 0 || strspn(text, "0.") == length);
}

static const char *
units_plain_name(const struct quantity *quantity)
{
	if (quantity->dimension == DIMENSION_SIZE)
		return quantity->plain == 1 ? ": bytes, or" : quantity->plain == KIB ? ": KiB, or" : "";
	if (quantity->plain == UNITS_SECOND)
		return ": seconds, or";
	return quantity->plain == UNITS_MINUTE ? ": minutes, or" : "";
}

const struct quantity quantity_last = {DIMENSION_TIME, 0, 1, 100 * UNITS_YEAR, false};

bool
units_parse(const struct quantity *quantity, const char *text, uint64_t *value, char error[UNITS_ERROR_MAX])
{
	bool time = quantity->dimension == DIMENSION_TIME;
	char min[UNITS_TEXT_MAX], max[UNITS_TEXT_MAX];

	if (units_read(quantity, text, value) &&
	    ((*value >= quantity->min && *value <= quantity->max) || (*value == 0 && quantity->or_zero)))
		return true;
	snprintf(error, UNITS_ERROR_MAX, "expected %sa %s from %s to %s%s with a unit as in %s",
		 quantity->or_zero ? "0 or " : "", time ? "time" : "size",
		 (time ? units_format_time : units_format_size)(quantity->min, min),
		 (time ? units_format_time : units_format_size)(quantity->max, max), units_plain_name(quantity),
		 time ? "500ms, 90s, 5m, 1h" : "512K, 64M, 1G");
	return false;
}

const char *
units_format_time(uint64_t ns, char text[UNITS_TEXT_MAX])
{
	static const char *const names[] = {"d", "h", "min", "s", "ms", "us", "ns"};
	size_t i = 0;

	while (ns % unit_find(names[i], strlen(names[i]))->factor != 0)
		i++;
	if (ns == 0)
		i = 3;
	snprintf(text, UNITS_TEXT_MAX, "%llu%s",
		 (unsigned long long)(ns / unit_find(names[i], strlen(names[i]))->factor), names[i]);
	return text;
}

const char *
units_format_size(uint64_t bytes, char text[UNITS_TEXT_MAX])
{
	static const char letters[][2] = {"", "K", "M", "G", "T"};
	size_t i = 0;

	while (bytes != 0 && bytes % KIB == 0 && i + 1 < sizeof letters / sizeof letters[0]) {
		bytes /= KIB;
		i++;
	}
	snprintf(text, UNITS_TEXT_MAX, "%llu%s", (unsigned long long)bytes, letters[i]);
	return text;
}
