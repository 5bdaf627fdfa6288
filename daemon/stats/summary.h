/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: all counters, one "name value" a line.  The meaning of a name never changes. */
#ifndef NETOBS_DAEMON_STATS_SUMMARY_H
#define NETOBS_DAEMON_STATS_SUMMARY_H

#include "daemon/capture/workers.h"

/* Updates the counters of all workers and writes their sums to standard error.  Anomalies and probes that never
 * occurred are omitted. */
void summary_write(struct workers *workers);

#endif
