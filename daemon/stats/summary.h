/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that was counted, for people and scripts: one "name value" per line, names never change their meaning. */
#ifndef NETOBS_DAEMON_STATS_SUMMARY_H
#define NETOBS_DAEMON_STATS_SUMMARY_H

#include <stdio.h>

#include "daemon/capture/workers.h"

/* Brings the counters of all workers up to date and writes their sums.  Anomalies that never occurred and probes that
 * never fired are left out. */
void summary_write(FILE *to, struct workers *workers);

#endif
