/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of the fields that a definition names after "by" and the like. */
#ifndef NETOBS_FORMULAS_FIELD_VALUES_H
#define NETOBS_FORMULAS_FIELD_VALUES_H

#include "formulas/code.h"

/* Copies the values of the fields, text with zeros after its end; false if one is absent. */
bool field_values_read(struct firing *firing, const struct field_place *places, unsigned count, uint8_t *values);

#endif
