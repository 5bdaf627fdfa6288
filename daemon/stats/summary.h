/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: all counters, one "name value" a line.  The meaning of a name never changes. */
#ifndef NETOBS_DAEMON_STATS_SUMMARY_H
#define NETOBS_DAEMON_STATS_SUMMARY_H

#include <stdio.h>

#include "daemon/capture/workers.h"

/* Updates the counters of all workers and writes their sums.  Anomalies and probes that never occurred are omitted. */
void summary_write(FILE *to, struct workers *workers);

#endif
