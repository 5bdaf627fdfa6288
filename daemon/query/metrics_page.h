/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics as Prometheus reads them (text format 0.0.4). */
#ifndef NETOBS_DAEMON_QUERY_METRICS_PAGE_H
#define NETOBS_DAEMON_QUERY_METRICS_PAGE_H

#include "daemon/base/text_buffer.h"
#include "daemon/stats/state_counter.h"
#include "daemon/stats/stats.h"

/* Appends all of them; `censuses`: one of each worker.  Every series is there from the start, also where it is 0, so
 * that rates need no guess. */
void metrics_page(struct insight *insight, const struct census *censuses, struct text *text);

#endif
