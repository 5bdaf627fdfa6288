/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the metrics address answers beside the metrics, if it is on this host only: `/`, a page that shows traffic in a
 * browser, and what the page asks for, a JSON object a line: `/connections`, the time, and the connections that have
 * not ended; `/services`, how many there are, and those for which most was waited, open connections included.
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

/* Services in a reply, and open connections that are counted for it, at most. */
#define LIVE_SERVICES_MAX      256u
#define LIVE_SERVICES_OPEN_MAX 16384u

/* Services with a connection in this time stand before others. */
#define LIVE_RECENT_NS UINT64_C(300000000000)

/* State of a reply that is written in parts. */
struct live_reply {
	unsigned part; /* of the page */
	size_t offset; /* in this part */
	struct control_reply connections;
	bool begun; /* the first line is written */
	struct services *services; /* all of them */
	const struct service **list;
	size_t count, next;
};

/* Appends the next part of a page made for a server; false with the last one. */
bool live_page_write(struct live_reply *reply, const struct page *page, struct text_buffer *text);

/* Begins a reply about connections: without processes, because the client is not known.  False if out of memory. */
bool live_connections_begin(struct live_reply *reply, struct query_context *query);

/* Appends the next part of the connections; false with the last one. */
bool live_connections_write(struct live_reply *reply, struct text_buffer *text);

/* Begins a reply about services.  False if out of memory. */
bool live_services_begin(struct live_reply *reply, struct query_context *query);

/* Appends the next part of the services, which may be empty while open connections are counted; false with the last
 * one. */
bool live_services_write(struct live_reply *reply, struct text_buffer *text);

/* Frees what a reply has, whatever it is about. */
void live_reply_end(struct live_reply *reply);

#endif
