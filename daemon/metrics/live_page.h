/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the metrics address answers beside the metrics, if it is on this host only: `/`, a page that shows traffic in a
 * browser, and `/connections`, which the page asks for: the time, and the connections that have not ended, a JSON
 * object a line.
 */
#ifndef NETOBS_DAEMON_METRICS_LIVE_PAGE_H
#define NETOBS_DAEMON_METRICS_LIVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "daemon/query/control_reply.h"
#include "page/page.h"

/* Connections in a reply, at most. */
#define LIVE_CONNECTIONS_MAX 1000u

/* State of a reply that is written in parts. */
struct live_reply {
	unsigned part; /* of the page */
	size_t offset; /* in this part */
	struct control_reply connections;
	bool begun; /* the line with the time is written */
};

/* Appends the next part of a page made for a server; false with the last one. */
bool live_page_write(struct live_reply *reply, const struct page *page, struct text_buffer *text);

/* Begins a reply about connections: without processes, because the client is not known.  False if out of memory. */
bool live_connections_begin(struct live_reply *reply, struct query_context *query);

/* Appends the next part of the connections; false with the last one. */
bool live_connections_write(struct live_reply *reply, struct text_buffer *text);

/* Frees what a reply has, about connections or not. */
void live_connections_end(struct live_reply *reply);

#endif
