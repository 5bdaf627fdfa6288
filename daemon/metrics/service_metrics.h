/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics of services, written in parts. */
#ifndef NETOBS_DAEMON_METRICS_SERVICE_METRICS_H
#define NETOBS_DAEMON_METRICS_SERVICE_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "daemon/query/query_context.h"
#include "records/services.h"

/* Services in the metrics, at most. */
#define SERVICE_METRICS_MAX 64u

struct service_metrics {
	struct services *services; /* a copy; NULL: out of memory, or not begun */
	const struct service *list[SERVICE_METRICS_MAX];
	size_t count, next; /* the next one of the family */
	unsigned family;
};

/* Chooses the services: those of this host first, then those that were observed first.  NULL if out of memory. */
struct service_metrics *service_metrics_new(const struct query_context *query);
void service_metrics_free(struct service_metrics *metrics);

/* Appends the next part; false with the last one. */
bool service_metrics_write(struct service_metrics *metrics, struct text_buffer *text);

#endif
