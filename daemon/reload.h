/* SPDX-License-Identifier: BSD-2-Clause */
/* Reloads the configuration of a running netobsd (SIGHUP). */
#ifndef NETOBS_DAEMON_RELOAD_H
#define NETOBS_DAEMON_RELOAD_H

#include <stdbool.h>

#include "observe/workers.h"
#include "config/config.h"

/* Objects that a new configuration is applied to; all borrowed. */
struct reload_targets {
	struct config *config;
	struct workers *workers;
	struct formula_sites *formulas;
};

struct formula_sites;
struct reload;

/* NULL if out of memory. */
struct reload *reload_new(const struct reload_targets *targets);
void reload_free(struct reload *reload);

/* Parses command line and file again.  Settings of OPTION_AT_RELOAD rows take effect; a message names other
 * rows that have changed.  False, with nothing changed and a message logged that names file and line, on any error. */
bool reload_run(struct reload *reload);

/* Copies the OPTION_AT_RELOAD settings of `*fresh` to `*config`; `*fresh` must live as long as `*config`. */
void reload_copy_settings(struct config *config, struct config *fresh);

#endif
