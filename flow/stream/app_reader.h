/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser of an application protocol: what it implements, and what it may call.  It receives the bytes of each
 * direction in order, or datagrams, and reports messages; it does not process segments.
 */
#ifndef NETOBS_FLOW_STREAM_APP_READER_H
#define NETOBS_FLOW_STREAM_APP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/anomaly.h"
#include "dissect/cursor.h"

struct app_flow;
struct app_flow_table;
struct flow;

/* Most of a client's first bytes by which its protocol is recognised. */
#define APP_FIRST_BYTES_MAX 2048u

/* Whether first bytes are of a protocol. */
enum app_match {
	APP_MATCH_NO,
	APP_MATCH_UNDECIDED, /* they may be, and more of them tell */
	APP_MATCH_YES,
};

/* What a provider is opened with. */
struct app_settings {
	uint64_t seed;	     /* makes hashes unpredictable */
	uint64_t timeout_ns; /* of requests, --app-timeout */
	unsigned workers;    /* that share the limits of a provider */
};

/* The share of a worker in a limit of a provider, which is a power of two: a power of two, at least 64. */
static inline uint32_t
app_settings_share(const struct app_settings *settings, uint32_t limit)
{
	for (unsigned shares = 1; shares < settings->workers && limit > 64; shares *= 2)
		limit /= 2;
	return limit;
}

struct app_flow_counters {
	uint64_t active, begun, midstream;
	uint64_t unread;	      /* connections of which no message was read: their beginning, or one direction, is
				       * not captured */
	uint64_t evicted;	      /* confirmed app flows that were evicted */
	uint64_t evicted_unconfirmed; /* likewise, unconfirmed ones */
	uint64_t cut;		      /* segments and datagrams read whose end the snapshot length has cut off */
};

/* Requests of all connections of a provider; counters of the run. */
struct app_request_counters {
	uint64_t now;	    /* requests that wait for their response */
	uint64_t begun;	    /* requests stored, in total */
	uint64_t answered;
	uint64_t timed_out;
	uint64_t evicted;   /* dropped to make room */
	uint64_t forgotten; /* timed out when their connection was no longer known */
};

/* Context of a reader's callbacks. */
struct app_context {
	struct app_flow_table *table; /* NULL for datagrams */
	struct app_flow *app_flow;    /* NULL for datagrams */
	void *state;		      /* app_reader.state_size bytes, initially zero; NULL for datagrams */
	void *shared;		      /* result of app_reader.open() */
	const struct flow *flow;
	uint64_t cid;		  /* connection id of the flow's endpoint 0 */
	uint64_t now;		  /* packet time, ns since the epoch */
	unsigned server_endpoint; /* the endpoint whose port is the protocol's, or that did not open the connection */
	bool traced;		  /* a probe is enabled or a name is needed; otherwise the reader may skip work */
	bool from_first;	  /* all segments are passed, from the client's first captured byte on */
	bool kept;		  /* the segment is one of the first ones, which were kept; then: */
	uint32_t first[2];	  /* the lowest number of the segments of each end, */
	uint8_t first_known;	  /* bit n: if endpoint n has sent one */
	bool late;		  /* the segment was captured after an ACK of all its bytes, later than sent */
	bool peer_bytes_missing;  /* this segment acknowledges bytes of the other stream that have not been delivered */
	uint32_t unacked;	  /* delivered bytes of the other stream that this segment does not acknowledge */
	/* `sender` has sent a complete message; an anomaly was found; the connection's name is known. */
	void (*on_message)(void *context, unsigned sender, const void *message);
	void (*on_anomaly)(void *context, enum anomaly a);
	void (*on_name)(void *context, const char *name); /* NULL: names are not needed */
	/* In on_time(): a request of `flow` has timed out at `time`.  False if the flow is another connection now. */
	bool (*on_timeout)(void *context, const struct flow *flow, uint64_t cid, uint64_t time, const void *message);
	void *context;
};

/* The parser of an application protocol; its struct app_protocol names it (apps/app.h). */
struct app_reader {
	size_t state_size;	  /* bytes of state of a connection */
	uint32_t connections_max; /* connections that all workers read at once: a power of two, at least 64 */
	uint32_t history_size;	  /* bytes of each direction that are kept to compare retransmissions with: a power of
				   * two, or 0 */
	/* Creates what the provider keeps beside the states of connections, NULL if out of memory; frees it; and drops
	 * its content, because bytes will not be read for a while.  These three and the next one are all set, or all
	 * NULL. */
	void *(*open)(const struct app_settings *settings);
	void (*close)(void *shared);
	void (*clear)(void *shared);
	size_t (*shared_size)(const struct app_settings *settings); /* bytes of address space that open() reserves */
	/* Packet time of the next timeout, UINT64_MAX none; fires the timeouts up to ctx->now, in their order; counters
	 * of requests.  All three are set, by a reader with open(), or all NULL. */
	uint64_t (*next_timeout)(const void *shared);
	void (*on_time)(struct app_context *ctx);
	const struct app_request_counters *(*request_counters)(const void *shared);
	/* The stream of `sender` starts: at the `beginning` of the connection, or in mid-stream. */
	void (*on_start)(struct app_context *ctx, unsigned sender, bool beginning);
	/* The next bytes of `sender`, or the number of bytes missing there. */
	void (*on_bytes)(struct app_context *ctx, unsigned sender, struct slice bytes);
	void (*on_gap)(struct app_context *ctx, unsigned sender, uint32_t length);
	/* The stream of `sender` has ended: all bytes up to its FIN are delivered, or the connection was reset.  If it
	 * had no byte, on_start() was not called.  May be NULL. */
	void (*on_end)(struct app_context *ctx, unsigned sender);
	/* A UDP datagram of `wire` bytes; fewer are captured if the snapshot length cut it.  NULL: not on UDP. */
	void (*on_datagram)(struct app_context *ctx, unsigned sender, struct slice bytes, uint32_t wire);
	/* Whether a connection on any port is of this protocol, by its client's first bytes.  Once it is decided, more
	 * bytes do not change it; with APP_FIRST_BYTES_MAX it is.  NULL: only ports tell. */
	enum app_match (*recognises)(struct slice first);
	/* Whether the bytes are needed even while no probe is enabled, so that the state is right when one is.  NULL:
	 * never. */
	bool (*needs_bytes)(const void *state);
	/* Whether the reader can still use bytes of that endpoint.  Once false it stays false until on_start() is
	 * called.  If it is false for both endpoints the app flow is retired. */
	bool (*is_reading)(const void *state, unsigned sender);
};

/* The time at which the bytes were sent, ns; 0 unknown. */
static inline uint64_t
app_bytes_time(const struct app_context *ctx)
{
	return ctx->late ? 0 : ctx->now;
}

/* Microseconds between two such times; -1 if one is unknown, or the second one is earlier. */
static inline int64_t
app_elapsed_us(uint64_t from, uint64_t to)
{
	return from != 0 && to != 0 && to >= from ? (int64_t)((to - from) / 1000) : -1;
}

/* Called by the reader: `sender` has sent a complete message. */
void app_flow_report(struct app_context *ctx, unsigned sender, const void *message);

/* Called by the reader: a name of the connection; the first one counts. */
static inline void
app_flow_name(struct app_context *ctx, const char *name)
{
	if (ctx->on_name != NULL)
		ctx->on_name(ctx->context, name);
}

/* Makes this app flow the one that is found under `key`, which is not 0. */
void app_flow_index_set(struct app_context *ctx, uint64_t key);

/* The state of another app flow of the same reader that is found under `key`; NULL if there is none. */
const void *app_flow_index_find(const struct app_context *ctx, uint64_t key);

#endif
