/* SPDX-License-Identifier: BSD-2-Clause */
/* Units of numbers: 100ms, 1MB. */
#ifndef NETOBS_FORMULAS_UNITS_H
#define NETOBS_FORMULAS_UNITS_H

#include <stdint.h>

#include "formulas/lexer.h"
#include "probes/manifest.h"

struct unit {
	const char *name;
	enum dimension dimension;
	uint64_t factor; /* ns or bytes */
};

/* The unit of this name; NULL if there is none. */
const struct unit *unit_find(const char *name, size_t length);

/* For a name that is no unit: the unit that differs in case only, else a sentence with all units. */
const char *unit_hint(const char *name, size_t length);

/* The units of a dimension: "ns, us, ms, s, min or h". */
const char *dimension_units(enum dimension dimension);

enum dimension field_dimension(enum field_unit unit);

/* ns or bytes in one of a field's unit. */
uint64_t field_unit_factor(enum field_unit unit);

/* "us" */
const char *field_unit_name(enum field_unit unit);

#endif
