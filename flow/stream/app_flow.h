/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversations: the connections whose byte streams somebody reads.
 *
 * An application protocol is read by an app_reader, which knows its messages and keeps a state per connection.  The
 * connections in question have a conversation each, found by their flow: both streams and the reader's state, all of it
 * in memory that is reserved at start.  Where they are too many, the one that has been silent longest is forgotten and,
 * should it speak again, picked up in mid-stream.
 */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_H
#define NETOBS_FLOW_STREAM_APP_FLOW_H

#include "flow/flow.h"
#include "flow/stream/stream.h"

/* At once, over all application protocols. */
#define CONVERSATIONS_MAX 1024u

struct conversation;
struct conversations;

/* What a reader works with. */
struct reading {
	struct conversations *all;
	struct conversation *conversation;
	void *state;	 /* app_reader.state_size bytes, zero at first */
	unsigned server; /* the end on the protocol's port */
	bool wanted;	 /* somebody listens: while nobody does, a reader may save itself trouble */
	/* To be called by the reader: `sender` has sent a whole message; something is odd. */
	void (*message)(void *context, unsigned sender, const void *message);
	void (*odd)(void *context, enum anomaly a);
	void *context;
};

/* How an application protocol is read.  One row of the table of application providers (daemon/observe/app_layer.c) names it. */
struct app_reader {
	size_t state_size;
	/* The bytes that end `sender` sends begin here: at the `beginning` of the connection, or in its middle. */
	void (*start)(struct reading *reading, unsigned sender, bool beginning);
	/* The next bytes of `sender`, or so many that are missing. */
	void (*bytes)(struct reading *reading, unsigned sender, struct view bytes);
	void (*gap)(struct reading *reading, unsigned sender, uint32_t length);
	/* Whether the bytes are needed although nobody listens: to be right when somebody does. */
	bool (*needs)(const void *state);
	/* Whether anything may still come of that end's bytes.  Once false it remains so until start() is called. */
	bool (*reads)(const void *state, unsigned sender);
};

struct conversation_counters {
	uint64_t now, begun, midstream, evicted;
};

/* Room for CONVERSATIONS_MAX with states of up to `state_size` bytes.  NULL if memory cannot be had. */
struct conversations *conversations_new(size_t state_size);
void conversations_free(struct conversations *all);
const struct conversation_counters *conversations_counters(const struct conversations *all);
const struct stream_counters *conversations_streams(const struct conversations *all);

/*
 * A segment of `flow` that `sender` has sent, after the TCP machine has seen it.  `reading` has `server`, `wanted`,
 * `message`, `odd` and `context` set.  What is read is told through the latter before it returns.
 */
void conversation_take(struct conversations *all, const struct flow_table *table, const struct flow *flow,
		       const struct packet *packet, unsigned sender, const struct app_reader *reader,
		       struct reading *reading);

/* Calls `visit` with the state of every other conversation of the same reader, until it answers true. */
void conversation_others(const struct reading *reading, bool (*visit)(void *context, const void *state),
			 void *context);

/* The flow of a conversation. */
const struct flow *conversation_flow(const struct conversation *conversation);

#endif
