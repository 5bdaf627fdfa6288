/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of formulas in settings: lists of probes may name formulas, too. */
#ifndef NETOBS_CONFIG_FORMULA_NAMES_H
#define NETOBS_CONFIG_FORMULA_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "formulas/formula.h"
#include "probes/nearest.h"

/* Whether a comma-separated list of names and wildcards selects this name; NULL selects all. */
bool formula_names_select(const char *list, const char *name);

/* Like manifest_select_probes(); a word that selects a formula of the configuration is known, too. */
bool formula_names_select_probes(const struct config *config, const char *list, bool selected[PROBE_COUNT],
				 const char **unknown, size_t *length);

/* Whether `name`, of `length` bytes, is a probe or a formula of the configuration.  False, with `error`. */
bool formula_names_check_one(const struct config *config, const char *name, size_t length, char *error, size_t size);

/* Writes " (did you mean NAME?)" of a probe or a formula of the configuration, or nothing if no name is near.  Returns
 * `hint`. */
const char *formula_names_hint(const struct config *config, const char *name, size_t length,
			       char hint[NEAREST_HINT_MAX]);

/* Copies the name that a definition begins with. */
void formula_names_of_definition(const char *definition, char name[FORMULA_NAME_MAX + 1]);

/* Checks the definitions against each other.  False, with `error`, if a name is defined twice or there are too many. */
bool formula_names_check(const struct config *config, char *error, size_t size);

#endif
