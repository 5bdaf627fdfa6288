/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the configuration again while netobsd runs (SIGHUP). */
#ifndef NETOBS_DAEMON_RELOAD_H
#define NETOBS_DAEMON_RELOAD_H

#include <stdbool.h>

#include "daemon/capture/workers.h"
#include "daemon/config/config.h"

/* What a new configuration acts on; all of it is borrowed. */
struct reload_targets {
	struct config *config;
	struct workers *workers;
};

struct reload;

/* NULL if memory cannot be had. */
struct reload *reload_new(const struct reload_targets *targets);
void reload_free(struct reload *reload);

/* Reads command line and file again.  What AT_RELOAD rows say is in force afterwards, and a message names the other
 * rows that have changed.  False, with nothing changed and a message logged that says where, if anything is wrong. */
bool reload_now(struct reload *reload);

/* The part that only concerns the configuration: `*config` takes what `*fresh` says in AT_RELOAD rows, and `*fresh` has
 * to live as long. */
void reload_take(struct config *config, struct config *fresh);

#endif
