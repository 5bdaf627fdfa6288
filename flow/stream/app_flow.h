/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * App flows: TCP flows whose byte streams are parsed.
 *
 * An application protocol is parsed by an app_reader (flow/stream/app_reader.h), which finds its messages and keeps a
 * state per connection.  Each connection of such a protocol has an app flow, found by its flow: both streams and the
 * reader's state.  All address space is reserved at start; memory is taken by the app flows that are in use.
 *
 * Only a connection that both ends have opened gets an app flow: its handshake was captured, or in mid-stream each end
 * has acknowledged data of the other or the very number at which the other begins, or the server has acknowledged data
 * of its client's SYN.
 * Segments with a forged source never do.  An app flow is confirmed when both ends have sent a complete message.
 * Unconfirmed ones are limited, in total and by the network of the client, and are evicted first; then the confirmed
 * one that has been idle longest.  If a connection without its app flow sends again it continues in mid-stream.  An app
 * flow whose reader needs no more bytes is retired: it stays until its memory is needed, so that it does not begin
 * again in mid-stream.
 */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_H
#define NETOBS_FLOW_STREAM_APP_FLOW_H

#include "flow/flow.h"
#include "flow/stream/app_reader.h"
#include "flow/stream/stream.h"

/* Of the app flows that a table may have: the shares of unconfirmed ones, and of unconfirmed ones of clients with one
 * /24 of IPv4 or /64 of IPv6 addresses. */
#define APP_FLOWS_UNCONFIRMED_MAX(all) ((all) / 2)
#define APP_FLOWS_SOURCE_MAX(all)      ((all) / 8)

/* While all app flows are in use, confirmed ones are evicted in favour of this many unconfirmed ones. */
#define APP_FLOWS_UNCONFIRMED_MIN(all) ((all) / 16)

/* Bytes that one end sends before a connection that is not opened is given up. */
#define APP_FLOW_UNOPENED_MAX (1u << 20)

/* Retired app flows that are kept before their memory is used again. */
#define APP_FLOWS_RETIRED_MAX 1024u

/* A table of a worker's share in reader->connections_max.  `reader` and `pool` are borrowed.  NULL if out of memory. */
struct app_flow_table *app_flow_table_new(const struct app_reader *reader, const struct app_settings *settings,
					  struct stream_pool *pool);
void app_flow_table_free(struct app_flow_table *table);

/* Whether both ends have opened the connection of a flow, as its segments prove (see above), up to this one of
 * `sender`.  A server that has acknowledged data of its client's SYN (TCP Fast Open) has opened it before its client
 * acknowledges anything. */
bool app_flow_is_opened(const struct flow *flow, const struct packet *packet, unsigned sender);

/* Whether both SYNs were captured, and no end acknowledges more than was captured of the other, nor does this segment
 * of `sender`: the connection may be opened by what comes next. */
bool app_flow_is_whole(const struct flow *flow, const struct packet *packet, unsigned sender);

/* Whether all bytes of the segment were acknowledged before it was captured. */
bool app_flow_is_late(const struct flow *flow, const struct packet *packet, unsigned sender);

/* Whether the SYN of an end was captured, so that the first number of both is known: in mid-stream it is not. */
bool app_flow_has_beginning(const struct flow *flow);

/* Packet time at which bytes that are held are to be delivered (flow/stream/stream.h); UINT64_MAX none. */
uint64_t app_flow_next_timeout(const struct app_flow_table *table);

/* An app flow whose bytes are held until `now` at most; NULL none.  `*flow` and `*cid` are those of its connection,
 * which may be over by now. */
struct app_flow *app_flow_find_timeout(const struct app_flow_table *table, uint64_t now, const struct flow **flow,
				       uint64_t *cid);

/* The app flow of a connection if its bytes are held; NULL otherwise. */
struct app_flow *app_flow_find_held(struct app_flow_table *table, const struct flow *flow, uint64_t cid);

/* Packet time at which that is to be delivered. */
uint64_t app_flow_held_until(const struct app_flow *c);

/* Delivers what is held of that app flow; without `ctx` it is dropped. */
void app_flow_end_hold(struct app_flow_table *table, struct app_flow *c, struct app_context *ctx);

/* The input has ended: counts what was not delivered. */
void app_flow_table_end(const struct app_flow_table *table);

/* Drops all app flows: connections are read again in mid-stream, if at all. */
void app_flow_table_clear(struct app_flow_table *table);

/* A connection is counted as one of which no message is read; a message of it was read after all. */
void app_flow_count_unread(struct app_flow_table *table, bool unread);

/* Counts a segment or datagram that is read if its end is not captured. */
void app_flow_count_cut(struct app_flow_table *table, const struct packet *packet);

const struct app_flow_counters *app_flow_table_counters(const struct app_flow_table *table);

/* Bytes of address space that such a table reserves: the most memory that it takes. */
size_t app_flow_table_memory_size(const struct app_reader *reader, const struct app_settings *settings);

/*
 * Processes a segment of ctx->flow sent by `sender`, after the TCP machine has.  The caller sets `flow`, `now`,
 * `server_endpoint`, `traced`, `from_first`, `kept` and with it `late` and `first`, the callbacks and `context` of
 * `ctx`; the callbacks run before this returns.  False if later bytes of the connection are not needed.
 */
bool app_flow_feed(struct app_flow_table *table, const struct flow_table *flow_table, const struct packet *packet,
		   unsigned sender, struct app_context *ctx);

/* Passes a datagram of ctx->flow to the reader; the caller sets `ctx` as for app_flow_feed(). */
void app_flow_feed_datagram(const struct app_reader *reader, const struct packet *packet, unsigned sender,
			    struct app_context *ctx);

#endif
