/* SPDX-License-Identifier: BSD-2-Clause */
/* Which connections a reply is about: conditions like "port 80", and an expression of formulas over the fields that
 * their records would have now. */
#ifndef NETOBS_DAEMON_QUERY_CONNECTION_FILTER_H
#define NETOBS_DAEMON_QUERY_CONNECTION_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct control_reply;
struct flow;
struct flow_table;

/* Compiles the expression of the request, if it has one, while the request is in memory; false with `error`. */
bool connection_filter_begin(struct control_reply *reply, char *error, size_t size);
void connection_filter_end(struct control_reply *reply);

/* Whether the conditions hold for the connection, the expression apart: a few comparisons. */
bool connection_filter_holds(const struct control_reply *reply, const struct flow_table *table,
			     const struct flow *flow);

/* Whether the reply is about the connection.  Call it with the lock of the worker held. */
bool connection_filter_selects(const struct control_reply *reply, const struct flow_table *table,
			       const struct flow *flow);

/* Like connection_filter_selects(), but without the expression if it may depend on owners, which are not looked up
 * yet. */
bool connection_filter_may_select(const struct control_reply *reply, const struct flow_table *table,
				  const struct flow *flow);

#endif
