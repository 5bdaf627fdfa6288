/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket.  netobsctl(8) sends one line (control_request.h) and receives a line "ok", "error WHY" or
 * "denied WHY" if this user may not make the request, after "ok" the reply; then the connection is closed.  The reply
 * to "stream" is a feed, see feeds.h. */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_H
#define NETOBS_DAEMON_QUERY_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/loop.h"
#include "config/config.h"
#include "daemon/query/query_context.h"

struct control;

/* Creates the configured socket for a process that will run as `uid`; call it before privileges are dropped.  NULL,
 * with a message logged, on failure. */
struct control *control_open(const struct config *config, uid_t uid);

/* Starts to serve requests from `query`, which is borrowed.  False, with a message logged, if out of memory. */
bool control_serve(struct control *control, struct loop *loop, struct query_context *query);

/* After the workers have ended: accepts no more requests, and ends the feeds (feeds_finish()).  NULL is allowed. */
void control_finish(struct control *control);

/* The socket's file is not removed, because that needs privileges that were dropped; the next netobsd replaces it. */
void control_free(struct control *control);

#endif
