/* SPDX-License-Identifier: BSD-2-Clause */
/* What the control socket answers, piece by piece: a piece is made when the one before it has been sent. */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_REPLY_H
#define NETOBS_DAEMON_QUERY_CONTROL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text_buffer.h"
#include "daemon/query/control_request.h"
#include "daemon/stats/stats.h"

/* A piece is at most so long. */
#define ANSWER_PIECE (64u * 1024)

struct answer {
	struct insight *insight; /* borrowed */
	struct request request;
	unsigned worker;  /* connections: how far it has come, */
	uint32_t place;	  /* in the table of this worker */
	uint64_t found;	  /* of them, how many were told */
	bool begun;
	bool done;
};

/* Appends the next piece to `text`, which has at least ANSWER_PIECE of room; sets `done` with the last one.  A piece
 * may be empty: a bounded number of connections is looked at for each. */
void answer_more(struct answer *answer, struct text *text);

/* The pieces of connections (answer_flows.c). */
void answer_flows(struct answer *answer, struct text *text);

#endif
