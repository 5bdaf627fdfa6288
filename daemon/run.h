/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of netobsd, from its configuration to its exit status. */
#ifndef NETOBS_DAEMON_RUN_H
#define NETOBS_DAEMON_RUN_H

#include "config/config.h"

/* The exit statuses that scripts rely on. */
enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_FAILED = 1,	 /* could not start, bad usage, or nothing left to observe */
	EXIT_STATUS_DAMAGED = 2, /* the input was damaged; what came before was observed */
	EXIT_STATUS_DROPPED = 3, /* with --strict: frames were dropped */
};

/* Runs as configured; a reload may change the configuration.  All failures are logged. */
enum exit_status daemon_run(struct config *config);

#endif
