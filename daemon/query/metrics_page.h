/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics in Prometheus' text format 0.0.4. */
#ifndef NETOBS_DAEMON_QUERY_METRICS_PAGE_H
#define NETOBS_DAEMON_QUERY_METRICS_PAGE_H

#include "daemon/base/text_buffer.h"
#include "daemon/stats/state_counter.h"
#include "daemon/stats/stats.h"

/* Appends all metrics; `censuses` has one element per worker.  Every series exists from the start, even if it is 0, so
 * that rates are exact. */
void metrics_page(struct insight *insight, const struct census *censuses, struct text *text);

#endif
