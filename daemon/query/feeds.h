/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds on the control socket.  The reply to the request "stream" is a feed: after the line "ok" it has a line for
 * each firing that the client has chosen, until the client closes the connection.  When netobsd ends, an empty line
 * ends the feed.  A client that does not read loses lines (probes/feed/feed.h) and delays nothing else.
 */
#ifndef NETOBS_DAEMON_QUERY_FEEDS_H
#define NETOBS_DAEMON_QUERY_FEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/loop.h"
#include "daemon/query/control_request.h"
#include "daemon/query/query_context.h"

struct feeds;
struct feed;

/* Connects the observers of all workers; `query` is borrowed.  NULL, with a message logged, if out of memory. */
struct feeds *feeds_new(struct loop *loop, struct query_context *query);

/* After the workers have ended: ends all feeds with an empty line.  Waits for slow clients for a bounded time. */
void feeds_finish(struct feeds *feeds);

/* Call it after the workers have ended.  NULL is allowed. */
void feeds_free(struct feeds *feeds);

/* Begins the feed that a request describes: from now on firings add lines to it.  NULL, with `error`, if the request is
 * wrong or there are too many feeds; a privileged client, which is root or the user of netobsd, may begin the last
 * ones. */
struct feed *feeds_begin(struct feeds *feeds, const struct control_request *request, bool privileged, char *error,
			 size_t size);
void feeds_end(struct feeds *feeds, struct feed *feed);

/* Takes over a client's socket, to which its feed is sent. */
void feeds_add_client(struct feeds *feeds, struct feed *feed, int fd);

#endif
