/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics in Prometheus' text format 0.0.4. */
#ifndef NETOBS_DAEMON_METRICS_METRICS_PAGE_H
#define NETOBS_DAEMON_METRICS_METRICS_PAGE_H

#include "base/text.h"
#include "daemon/query/query_context.h"
#include "daemon/stats/state_counter.h"

/* Appends all metrics; `counters` has one element per worker.  Every series exists from the start, even if it is 0, so
 * that rates are exact. */
void metrics_write_page(struct query_context *query, const struct state_counter *counters, struct text_buffer *text);

#endif
