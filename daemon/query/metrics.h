/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters for Prometheus: GET /metrics over HTTP, in its text format 0.0.4.
 *
 * Off unless an address is configured, and then on a Unix socket or the loopback interface unless more is asked for.
 * Served as server.h says: a bounded number of connections, small requests, and nobody is waited for.
 */
#ifndef NETOBS_DAEMON_QUERY_METRICS_H
#define NETOBS_DAEMON_QUERY_METRICS_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/base/loop.h"
#include "daemon/config/config.h"
#include "daemon/stats/stats.h"

struct metrics;

/* Listens at the configured address, "unix:PATH", "ADDRESS:PORT" or "[ADDRESS]:PORT", for a process that will be run by
 * `uid`; to be called while there are privileges.  NULL, with a message logged, if that cannot be done. */
struct metrics *metrics_open(const struct config *config, uid_t uid);

/* Begins to answer from `insight`, which is borrowed.  False, with a message logged, if memory cannot be had. */
bool metrics_serve(struct metrics *metrics, struct loop *loop, struct insight *insight);
void metrics_free(struct metrics *metrics);

#endif
