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
#define ANSWER_PIECE (64u * 1024)

struct answer {
	struct insight *insight; /* borrowed */
	struct request request;
	unsigned worker;  /* connections: position of the answer, */
	uint32_t place;	  /* index in this worker's flow table */
	uint64_t found;	  /* connections listed so far */
	bool begun;
	bool done;
};

/* Appends the next piece to `text`, which has at least ANSWER_PIECE bytes of room; sets `done` with the last one.  A
 * piece may be empty, because only a bounded number of connections is examined for each. */
void answer_more(struct answer *answer, struct text *text);

/* Produces the pieces of a connection list (answer_flows.c). */
void answer_flows(struct answer *answer, struct text *text);

#endif
