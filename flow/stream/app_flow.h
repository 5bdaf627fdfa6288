/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * App flows: TCP flows whose byte streams are parsed.
 *
 * An application protocol is parsed by an app_reader, which finds its messages and keeps a state per connection.  Each
 * connection of such a protocol has an app flow, found by its flow: both streams and the reader's state.  All memory is
 * reserved at start.
 *
 * Only a connection that both ends have opened gets an app flow: its handshake was captured, or in mid-stream both ends
 * have sent data and have acknowledged data of the other.  Segments with a forged source never do.  An app flow is
 * confirmed when both ends have sent a complete message.  Unconfirmed ones are limited, in total and by the network of
 * the client, and are evicted first; then the confirmed one that has been idle longest.  If a connection without its
 * app flow sends again it continues in mid-stream.
 */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_H
#define NETOBS_FLOW_STREAM_APP_FLOW_H

#include "flow/flow.h"
#include "flow/stream/stream.h"

/* Limit for all application protocols together. */
#define APP_FLOWS_MAX 1024u

/* Of these, most unconfirmed ones, and most of clients with one /24 of IPv4 or /64 of IPv6 addresses. */
#define APP_FLOWS_UNCONFIRMED_MAX 512u
#define APP_FLOWS_SOURCE_MAX	  128u

/* While all app flows are in use, confirmed ones are evicted in favour of this many unconfirmed ones. */
#define APP_FLOWS_UNCONFIRMED_MIN 64u

struct app_flow;
struct app_flow_table;

/* Context of a reader's callbacks. */
struct app_context {
	struct app_flow_table *table;
	struct app_flow *app_flow;
	void *state;		  /* app_reader.state_size bytes, initially zero */
	unsigned server_endpoint; /* the endpoint whose port is the protocol's */
	bool traced;		  /* a probe is enabled; otherwise the reader may skip work */
	/* `sender` has sent a complete message; an anomaly was found. */
	void (*on_message)(void *context, unsigned sender, const void *message);
	void (*on_anomaly)(void *context, enum anomaly a);
	void *context;
};

/*
 * The parser of an application protocol.  A row of the table of application providers (daemon/observe/app_layer.c)
 * names it.
 */
struct app_reader {
	size_t state_size;
	/* The stream of `sender` starts: at the `beginning` of the connection, or in mid-stream. */
	void (*on_start)(struct app_context *ctx, unsigned sender, bool beginning);
	/* The next bytes of `sender`, or the number of bytes missing there. */
	void (*on_bytes)(struct app_context *ctx, unsigned sender, struct slice bytes);
	void (*on_gap)(struct app_context *ctx, unsigned sender, uint32_t length);
	/* Whether the bytes are needed even while no probe is enabled, so that the state is right when one is. */
	bool (*needs_bytes)(const void *state);
	/* Whether the reader can still use bytes of that endpoint.  Once false it stays false until on_start() is
	 * called. */
	bool (*is_reading)(const void *state, unsigned sender);
};

struct app_flow_counters {
	uint64_t active, begun, midstream;
	uint64_t evicted;	      /* confirmed app flows that were evicted */
	uint64_t evicted_unconfirmed; /* likewise, unconfirmed ones */
};

/* Allocates APP_FLOWS_MAX app flows with states of up to `state_size` bytes.  `seed` makes hashes unpredictable.
 * NULL if out of memory. */
struct app_flow_table *app_flow_table_new(size_t state_size, uint64_t seed);
void app_flow_table_free(struct app_flow_table *table);
const struct app_flow_counters *app_flow_table_counters(const struct app_flow_table *table);
const struct stream_counters *app_flow_table_stream_counters(const struct app_flow_table *table);

/*
 * Processes a segment of `flow` sent by `sender`, after the TCP machine has.  The caller sets `server_endpoint`,
 * `traced`, `on_message`, `on_anomaly` and `context` of `ctx`; the callbacks run before this returns.
 */
void app_flow_feed(struct app_flow_table *table, const struct flow_table *flow_table, const struct flow *flow,
		   const struct packet *packet, unsigned sender, const struct app_reader *reader,
		   struct app_context *ctx);

/* Called by the reader: `sender` has sent a complete message. */
void app_flow_report(struct app_context *ctx, unsigned sender, const void *message);

/* Makes this app flow the one that is found under `key`, which is not 0. */
void app_flow_index_set(struct app_context *ctx, uint64_t key);

/* The state of another app flow of the same reader that is found under `key`; NULL if there is none. */
const void *app_flow_index_find(const struct app_context *ctx, uint64_t key);

/* The flow of an app flow. */
const struct flow *app_flow_get_flow(const struct app_flow *app_flow);

#endif
