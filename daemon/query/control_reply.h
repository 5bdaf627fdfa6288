/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers on the control socket, produced in pieces: the next piece is made when the previous one has been sent. */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_REPLY_H
#define NETOBS_DAEMON_QUERY_CONTROL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text_buffer.h"
#include "daemon/query/control_request.h"
#include "daemon/stats/stats.h"

/* Most bytes in a piece. */
#define CONTROL_REPLY_CHUNK (64u * 1024)

struct control_reply {
	struct query_context *query; /* borrowed */
	struct control_request request;
	unsigned worker;  /* connections: position of the answer, */
	uint32_t position;	  /* index in this worker's flow table */
	bool begun;
	bool done;
};

/* Appends the next piece to `text`, which has at least CONTROL_REPLY_CHUNK bytes of room; sets `done` with the last
 * one.  A piece may be empty, because only a bounded number of connections is examined for each. */
void control_reply_write(struct control_reply *reply, struct text_buffer *text);

/* Produces the pieces of a connection list (answer_flows.c). */
void control_reply_write_flows(struct control_reply *reply, struct text_buffer *text);

#endif
