/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies on the control socket, produced in parts: the next part is made when the previous one has been sent. */
#ifndef NETOBS_DAEMON_QUERY_CONTROL_REPLY_H
#define NETOBS_DAEMON_QUERY_CONTROL_REPLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"
#include "base/text.h"
#include "daemon/query/control_request.h"
#include "daemon/query/query_context.h"
#include "flow/flow.h"
#include "probes/owner.h"
#include "records/services.h"

/* Passes over the connections of a reply about many. */
enum reply_owner_pass {
	REPLY_PASS_PREPARE, /* look the owners up */
	REPLY_PASS_WAIT,    /* wait for them */
	REPLY_PASS_WRITE,
};

/* Most bytes in a part. */
#define CONTROL_REPLY_PART_MAX (64u * 1024)

struct connections_reply;
struct frames_reply;

struct control_reply {
	struct query_context *query; /* borrowed */
	struct control_request request;
	unsigned worker;		    /* connections: worker whose flow table is being read */
	uint32_t position;		    /* position in that table; formulas, interfaces: number of the next one */
	char formula[FORMULA_NAME_MAX + 1]; /* formulas: the one to describe, "" to list all */
	bool begun;
	bool done;
	bool later; /* the next part is not ready yet */

	/* Owners: */
	uid_t uid;	      /* user of the client */
	bool all_owners;      /* the client may see the processes of all users, otherwise only its own */
	uint64_t asked_ns;    /* when owners were looked up (realtime), 0 not yet */
	uint64_t deadline_ns; /* when to reply without them (monotonic) */
	uint8_t owner_pass;   /* REQUEST_CONNECTIONS: enum reply_owner_pass */
	bool owners_pending;  /* REQUEST_CONNECTIONS: some were not known when they were looked up */
	uint32_t owner_ends;  /* REQUEST_CONNECTIONS: ends that were looked up */
	bool owners;	      /* REQUEST_CONNECTIONS: the reply needs them */

	struct frames_reply *frames;	       /* REQUEST_WRITE */
	struct connections_reply *connections; /* REQUEST_CONNECTIONS */
	struct services *services; /* REQUEST_CONNECTIONS: the rows are counted there, not written; NULL otherwise */
};

/* Appends the next part to `text`, which has space for at least CONTROL_REPLY_PART_MAX bytes; sets `done` with the last
 * one.  A part may be empty, because only a bounded number of connections is examined for each. */
void control_reply_write(struct control_reply *reply, struct text_buffer *text);

/* control_reply_connections.c: rows of connections, open or ended.  Begin it while the request is in memory; false with
 * `error`. */
bool control_reply_begin_connections(struct control_reply *reply, char *error, size_t size);
void control_reply_write_connections(struct control_reply *reply, struct text_buffer *text);
void control_reply_end_connections(struct control_reply *reply);

/* The reply to a request that is not carried out, because of its user if `denied`. */
void control_reply_fail(const char *error, bool denied, struct text_buffer *text);

/* Selects the formula to describe by its number; false if there is none. */
bool control_reply_select_formula(struct control_reply *reply, unsigned number);

/* control_reply_frames.c: a capture from the flight memory.  Begin it while the request is in memory; false with
 * `error`. */
bool control_reply_begin_frames(struct control_reply *reply, char *error, size_t size);
void control_reply_write_frames(struct control_reply *reply, struct text_buffer *text);
void control_reply_end_frames(struct control_reply *reply);

/* control_reply_owner.c: the processes of the local ends of a flow, whose table belongs to reply->worker.  Call these
 * functions with the lock of that worker held. */

/* Looks up both local ends; true when the owners are known as well as they will be. */
bool reply_find_owners(struct control_reply *reply, const struct flow_table *table, const struct flow *flow);

/* REQUEST_CONNECTIONS: one step of REPLY_PASS_PREPARE looks up the owners of a connection that the reply needs, unless
 * they are known; one of REPLY_PASS_WAIT waits for them.  Either sets `later` if it must be repeated, or begins another
 * pass if there were enough steps, or their time is over. */
void reply_prepare_owners(struct control_reply *reply, const struct flow_table *table, const struct flow *flow);

void reply_wait_for_owners(struct control_reply *reply, const struct flow *flow);

/* Begins the pass that follows when all connections have had their step. */
void reply_next_owner_pass(struct control_reply *reply);

/* The process of an end, -1 if it is unknown. */
int32_t reply_owner_pid(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
			unsigned endpoint);

/* Bytes of the word for how an end is owned, or why its process is unknown: "process", "listener", "private". */
#define REPLY_OWNER_WORD_SIZE 16

/* The owner of an end in `*owner`, and the word for it; false if its user is unknown, or one whose sockets the client
 * may not see.  The process may be unknown (-1) although the user is known. */
bool reply_find_owner(const struct control_reply *reply, const struct flow_table *table, const struct flow *flow,
		      unsigned endpoint, struct owner *owner, char word[REPLY_OWNER_WORD_SIZE]);

#endif
