/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies on the control socket, produced in parts: the next part is made when the previous one has been sent. */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_REPLY_H
#define NETOBS_DAEMON_QUERY_CONTROL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text_buffer.h"
#include "daemon/query/control_request.h"
#include "daemon/query/query_context.h"

/* Most bytes in a part. */
#define CONTROL_REPLY_PART_MAX (64u * 1024)

struct control_reply {
	struct query_context *query; /* borrowed */
	struct control_request request;
	unsigned worker;   /* connections: worker whose flow table is being read */
	uint32_t position; /* position in that table */
	bool begun;
	bool done;
};

/* Appends the next part to `text`, which has space for at least CONTROL_REPLY_PART_MAX bytes; sets `done` with the last
 * one.  A part may be empty, because only a bounded number of connections is examined for each. */
void control_reply_write(struct control_reply *reply, struct text_buffer *text);

/* Produces the parts of a reply about connections (control_reply_flows.c). */
void control_reply_write_flows(struct control_reply *reply, struct text_buffer *text);

#endif
