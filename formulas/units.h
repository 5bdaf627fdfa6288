/* SPDX-License-Identifier: BSD-2-Clause */
/* Units of fields; those of constants, 100ms and 1MB, are in base/units.h. */
#ifndef NETOBS_FORMULAS_UNITS_H
#define NETOBS_FORMULAS_UNITS_H

#include <stdint.h>

#include "base/units.h"
#include "probes/manifest.h"

enum dimension field_dimension(enum field_unit unit);

/* ns or bytes in one of a field's unit. */
uint64_t field_unit_factor(enum field_unit unit);

/* "us" */
const char *field_unit_name(enum field_unit unit);

#endif
