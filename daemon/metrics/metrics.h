/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters for Prometheus: GET /metrics over HTTP, text format 0.0.4.  Disabled unless an address is configured; then
 * only a Unix socket or a loopback address is allowed, unless metrics_allow_remote is set.  server.h describes the
 * server: a bounded number of connections, small requests, and no waiting for a client.
 */
#ifndef NETOBS_DAEMON_METRICS_METRICS_H
#define NETOBS_DAEMON_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/text.h"
#include "config/config.h"
#include "daemon/query/query_context.h"
#include "daemon/stats/stats.h"

struct metrics;

/* Listens at the configured address: "unix:PATH", "ADDRESS:PORT" or "[ADDRESS]:PORT".  The process will run as `uid`;
 * call it before privileges are dropped.  NULL, with a message logged, on failure. */
struct metrics *metrics_open(const struct config *config, uid_t uid);

/* Starts to serve scrapes from `query`, which is borrowed.  False, with a message logged, if out of memory. */
bool metrics_serve(struct metrics *metrics, struct loop *loop, struct query_context *query);
void metrics_free(struct metrics *metrics);

/* Appends all metrics except those of interfaces in Prometheus' text format 0.0.4 (metrics_page.c); `counters` has one
 * element per worker.  Every series exists from the start, even if it is 0, so that rates are exact. */
void metrics_write_page(struct query_context *query, const struct state_counter *counters, struct text_buffer *text);

/* Appends the metrics of the interfaces from number `*position` on for which there is space.  Returns whether there are
 * more, from the new `*position` on. */
bool metrics_write_interfaces(struct query_context *query, uint32_t *position, struct text_buffer *text);

#endif
