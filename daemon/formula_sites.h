/* SPDX-License-Identifier: BSD-2-Clause */
/* The formulas of a run and their probe sites, from the configuration and from requests. */
#ifndef NETOBS_DAEMON_FORMULA_SITES_H
#define NETOBS_DAEMON_FORMULA_SITES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "formulas/formula_set.h"
#include "formulas/slots/slots.h"
#include "observe/workers.h"

struct formula_sites;

/* Defines the formulas of the configuration, and maps their sites if there are any or requests may define some; call it
 * before system calls are filtered.  Without sites formulas are counted and printed.  NULL, with a message logged, if
 * out of memory. */
struct formula_sites *formula_sites_open(const struct config *config);
void formula_sites_free(struct formula_sites *sites);

/* The formulas; NULL if there are no formulas, nor can any be defined. */
struct formula_set *formula_sites_set(const struct formula_sites *sites);

/* The sites; NULL if formulas cannot be traced. */
const struct slots_object *formula_sites_object(const struct formula_sites *sites);

/* Connects the observers, which must live as long. */
void formula_sites_connect(struct formula_sites *sites, struct workers *workers);

/* Reads the names of slots from the file, which netobsctl changes. */
void formula_sites_read_names(struct formula_sites *sites);

/* The name of a slot when it was last read, "" for the default name, and whether a tracer is attached to it.  False if
 * there is no such slot. */
bool formula_sites_describe(const struct formula_sites *sites, unsigned slot, const char **name, bool *traced);

/* The following need all workers to be paused. */

/* Brings the slots of the formulas up to date with the names that were read. */
void formula_sites_update(struct formula_sites *sites);

/* Makes the formulas of the configuration those of `fresh`; one whose definition is unchanged keeps its counts, and
 * those of requests stay.  Problems are logged. */
void formula_sites_reload(struct formula_sites *sites, const struct config *fresh);

/* Adds a formula; false, with the reason in `error`. */
bool formula_sites_define(struct formula_sites *sites, const char *text, char *error, size_t size);

/* Removes a formula; false if there is none of this name. */
bool formula_sites_undefine(struct formula_sites *sites, const char *name);

#define INSTALL_ERROR_MAX SLOT_ERROR_MAX

/* --install-formulas: gives the file `path` with the probe sites, which a running netobsd can only read, the names of
 * the formulas of `config`; the group of the user that netobsd runs as may read it.  False, with the reason, on
 * failure. */
bool install_formulas(const struct config *config, const char *path, char error[INSTALL_ERROR_MAX]);

#endif
