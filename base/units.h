/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times and sizes with their units, the same in every option, setting, request and formula: 500ms, 90s, 5m, 1h;
 * 512, 64K, 64MiB.  UNITS of netobs.conf(5) has the words.
 */
#ifndef NETOBS_BASE_UNITS_H
#define NETOBS_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dimension {
	DIMENSION_NONE,
	DIMENSION_TIME, /* the number counts ns */
	DIMENSION_SIZE, /* the number counts bytes */
};

struct unit {
	const char *name;
	enum dimension dimension;
	uint64_t factor; /* ns or bytes */
};

#define UNITS_SECOND UINT64_C(1000000000) /* ns */
#define UNITS_MINUTE (60 * UNITS_SECOND)
#define UNITS_HOUR   (60 * UNITS_MINUTE)
#define UNITS_DAY    (24 * UNITS_HOUR)
#define UNITS_YEAR   (365 * UNITS_DAY)
#define UNITS_KIB    UINT64_C(1024) /* bytes */

/* Longest text of units_format_time() and units_format_size(), with the NUL. */
#define UNITS_TEXT_MAX 32

/* Longest message about a quantity. */
#define UNITS_ERROR_MAX 192

/* The unit of this name; NULL if there is none. */
const struct unit *unit_find(const char *name, size_t length);

/* For a name that is not a unit: the unit that differs in case only, else a sentence with all units. */
const char *unit_hint(const char *name, size_t length);

/* The units of a dimension: "ns, us, ms, s, m, min, h or d". */
const char *dimension_units(enum dimension dimension);

/* Multiplies the decimal number of `length` characters, with a point or without, by `factor`.  Digits that are less
 * than one ns or byte are dropped, `*exact` is then false.  False if the result has more than 64 bits. */
bool units_multiply(const char *number, size_t length, uint64_t factor, uint64_t *value, bool *exact);

/* A time or size that an option takes. */
struct quantity {
	enum dimension dimension;
	uint64_t plain;	   /* ns or bytes of a number without unit; 0: a unit is needed */
	uint64_t min, max; /* ns or bytes */
	bool or_zero;	   /* 0 is accepted below the minimum, without unit, too */
};

/* The time before now up to which a list or a capture goes back. */
extern const struct quantity quantity_last;

/* Parses a time or size.  False with a message, "expected a time from 1ms to 1h ...", if `text` is neither. */
bool units_parse(const struct quantity *quantity, const char *text, uint64_t *value, char error[UNITS_ERROR_MAX]);

/* Formats a number of ns or bytes with the largest unit of which it is a multiple: 90s, 5min, 64M. */
const char *units_format_time(uint64_t ns, char text[UNITS_TEXT_MAX]);
const char *units_format_size(uint64_t bytes, char text[UNITS_TEXT_MAX]);

#endif
