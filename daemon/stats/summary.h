/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: all counters, one "name value" a line.  The meaning of a name never changes. */
#ifndef NETOBS_DAEMON_STATS_SUMMARY_H
#define NETOBS_DAEMON_STATS_SUMMARY_H

#include <stdbool.h>

#include "observe/workers.h"

/* Updates the counters of all workers and writes their sums to standard error, and waits a moment for its reader.
 * Anomalies and probes that never occurred are omitted.  False if they are not written, except to a pipe that has no
 * reader. */
bool summary_write(struct workers *workers);

/* As summary_write(), without waiting: lines that standard error does not take are dropped, like those of the log. */
void summary_write_now(struct workers *workers);

#endif
