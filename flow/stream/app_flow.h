/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversations: connections whose byte streams are parsed.
 *
 * An application protocol is parsed by an app_reader, which knows its messages and keeps a state per connection.  Each
 * connection of such a protocol has a conversation, found by its flow: both streams and the reader's state.  All memory
 * is reserved at start.  When all conversations are in use, the one that has been silent longest is dropped; if that
 * connection sends again it is picked up in mid-stream.
 */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_H
#define NETOBS_FLOW_STREAM_APP_FLOW_H

#include "flow/flow.h"
#include "flow/stream/stream.h"

/* Limit for all application protocols together. */
#define CONVERSATIONS_MAX 1024u

struct conversation;
struct conversations;

/* Context of a reader's callbacks. */
struct reading {
	struct conversations *all;
	struct conversation *conversation;
	void *state;	 /* app_reader.state_size bytes, initially zero */
	unsigned server; /* the end whose port is the protocol's */
	bool wanted;	 /* a probe is enabled; otherwise the reader may skip work */
	/* Called by the reader: `sender` has sent a whole message; an anomaly was found. */
	void (*message)(void *context, unsigned sender, const void *message);
	void (*odd)(void *context, enum anomaly a);
	void *context;
};

/* The parser of an application protocol.  A row of the table of application providers (daemon/observe/app_layer.c) names it. */
struct app_reader {
	size_t state_size;
	/* The stream of `sender` starts: at the `beginning` of the connection, or in mid-stream. */
	void (*start)(struct reading *reading, unsigned sender, bool beginning);
	/* The next bytes of `sender`, or the number of bytes missing there. */
	void (*bytes)(struct reading *reading, unsigned sender, struct view bytes);
	void (*gap)(struct reading *reading, unsigned sender, uint32_t length);
	/* Whether the bytes are needed even while no probe is enabled, so that the state is right when one is. */
	bool (*needs)(const void *state);
	/* Whether the reader can still use bytes of that end.  Once false it stays false until start() is called. */
	bool (*reads)(const void *state, unsigned sender);
};

struct conversation_counters {
	uint64_t now, begun, midstream, evicted;
};

/* Allocates CONVERSATIONS_MAX conversations with states of up to `state_size` bytes.  NULL if out of memory. */
struct conversations *conversations_new(size_t state_size);
void conversations_free(struct conversations *all);
const struct conversation_counters *conversations_counters(const struct conversations *all);
const struct stream_counters *conversations_streams(const struct conversations *all);

/*
 * Processes a segment of `flow` sent by `sender`, after the TCP machine has.  The caller sets `server`, `wanted`,
 * `message`, `odd` and `context` of `reading`; the callbacks run before this returns.
 */
void conversation_take(struct conversations *all, const struct flow_table *table, const struct flow *flow,
		       const struct packet *packet, unsigned sender, const struct app_reader *reader,
		       struct reading *reading);

/* Calls `visit` with the state of every other conversation of the same reader, until it returns true. */
void conversation_others(const struct reading *reading, bool (*visit)(void *context, const void *state),
			 void *context);

/* The flow of a conversation. */
const struct flow *conversation_flow(const struct conversation *conversation);

#endif
