/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow table: connections, keyed by their two ends.  One table per worker.  Address space for the configured
 * number of flows is reserved at the start, and the kernel gives memory as it is used; the hash slots in use double in
 * place as connections are added.  Time is an argument and always packet time, so replaying a file gives the same
 * events each time.
 */
#ifndef NETOBS_FLOW_FLOW_H
#define NETOBS_FLOW_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/packet.h"
#include "flow/endpoint.h"
#include "flow/event.h"

#define NANOSECONDS 1000000000ull

enum flow_kind {
	FLOW_TCP,
	FLOW_UDP,
	FLOW_SCTP,
};

/* Two endpoints in canonical order: endpoint 0 has the smaller (address, port).  No padding: keys are compared as
 * bytes. */
struct flow_key {
	uint8_t addr[2][16];	/* network order; IPv4 in the first four bytes, the rest zero */
	uint16_t port[2];	/* host order */
	uint8_t protocol;	/* 6, 17 or 132 */
	uint8_t version;	/* 4 or 6 */
	uint16_t address_space; /* 0, or the address space of a tunnel */
};

_Static_assert(sizeof(struct flow_key) == 40, "the key has no padding");

/* How an end uses the IPv4 identification, as its packets before show. */
enum ident_use {
	IDENT_UNKNOWN, /* nothing shows it yet */
	IDENT_CHANGES, /* each packet has another one */
	IDENT_REPEATS, /* several packets have the same one, which does not tell them apart */
};

/* Values of struct flow.app; others are the number of a provider. */
enum flow_app {
	FLOW_APP_UNDECIDED = 0,
	FLOW_APP_FIRST = 1, /* number of the first provider */
	FLOW_APP_NONE = 31, /* no provider reads the connection */
};

/* Hot half of a flow, used for every packet: three cache lines. */
struct flow {
	struct flow_key key;
	uint64_t last_seen; /* time of its last packet, ns */
	uint32_t hash;
	uint8_t kind : 3;	  /* enum flow_kind */
	uint8_t app : 5;	  /* application provider that reads it: FLOW_APP_ values; kept by the caller */
	uint8_t local : 2;	  /* bit n: endpoint n is local (probes fire for it); kept by the caller */
	uint8_t first_sender : 1; /* endpoint whose packet was captured first */
	uint8_t same_host : 1;	  /* both endpoints are sockets of one host, as on loopback; kept by the caller */
	uint8_t slow : 1;	  /* its packets must take the slow path; kept by the caller */
	uint8_t unreported : 2;	  /* bit n: the last byte that endpoint n acknowledged may be the FIN of a peer of which
				   * nothing was captured: tcp_delivery_since() has not returned it */
	uint8_t unread : 1;	  /* counted in app_flow_counters.unread; kept by the caller */
	uint16_t local_epoch : 14; /* local epoch by which `local` was decided, 0 none; kept by the caller */
	uint16_t summed : 2;	  /* bit n: the checksum of a SYN or first segment of endpoint n was right; kept by the
				   * caller */
	uint64_t deadline;	  /* when a timer acts next if no packet comes, ns; see flow_table_run_timers */
	union {
		struct tcp_endpoint tcp[2];
		struct udp_endpoint udp[2];
		struct sctp_endpoint sctp[2];
	};
};

_Static_assert(sizeof(struct flow) == 192, "the hot half of a flow is three cache lines");

/* Local epochs are 1 to this. */
#define FLOW_LOCAL_EPOCH_MAX 0x3fffu

/* Cold half, used for creation, removal, timers and probes: 40 bytes. */
struct flow_cold;

struct flow_limits {
	uint32_t flows;		   /* most connections tracked at once */
	uint64_t tcp_connect_ns;   /* give up a connection attempt after this time without an answer (Linux: 127 s) */
	uint64_t tcp_time_wait_ns; /* duration of TIME_WAIT, 2MSL (Linux: 60 s) */
	uint64_t tcp_idle_ns;	   /* drop an established connection after this idle time */
	uint64_t tcp_closing_ns;   /* drop a closing connection (FIN captured) after this idle time */
	uint64_t udp_idle_ns;	   /* end a UDP stream after this idle time */
	uint64_t sctp_setup_ns;	   /* give up an association in setup or shutdown after this idle time */
	uint64_t sctp_idle_ns;	   /* drop an established association after this idle time */
	uint64_t sctp_closed_ns;   /* drop a closed association after this time */
	uint64_t tcp_reply_ns;	   /* shortest time that a captured FIN or RST waits for its receiver's ACK before it
				    * takes effect (see tcp_defer_input()); 0: it takes effect at once */
};

/* Linux's timeouts where it has them; 1,000,000 flows. */
struct flow_limits flow_limits_default(void);

/* 64-bit counters, never wrap in practice.  Only the thread that owns the table may read them. */
struct flow_counters {
	uint64_t flows; /* flows in the table */
	uint64_t created;
	uint64_t expired;	    /* ended by a timer */
	uint64_t evicted_half_open; /* evicted because the table was full, in this order: */
	uint64_t evicted_closing;
	uint64_t evicted_udp;
	uint64_t evicted_idle;
	uint64_t evicted_oldest;
	uint64_t evicted_crowded;    /* evicted below the limit: too many keys hash near one slot, which only an attack
				   * achieves */
	uint64_t reused;	     /* connections replaced by a new one between the same ends */
	uint64_t midstream;	     /* flows whose beginning was not captured */
	uint64_t duplicate_segments; /* TCP segments that were captured twice or duplicated by the network */
	uint64_t reordered_segments; /* TCP segments captured after segments that were sent later */
	uint64_t one_way;	     /* TCP connections and SCTP associations of which one direction was not captured */
	uint64_t tunnel_streams;     /* UDP streams to the port of a tunnel that is not unpacked */
	uint64_t longest_probe;	     /* longest hash probe so far: slots from a new flow's home slot to the free slot
				   * after its probe sequence, both included */
};

struct flow_table;

/* Called before the events and the record with which a timer, an eviction, a new incarnation or the end of the capture
 * may end a flow; `removed`: it does, and the flow is removed.  The flow is still intact during the call. */
typedef void flow_end_handler(void *context, struct flow *flow, bool removed);

/* Receives every event caused by a timer, an eviction or the reuse of a flow's ends, in time order.  The flow is still
 * intact during the call. */
typedef void flow_event_handler(void *context, struct flow *flow, const struct flow_events *events);

/* Creates a table and reserves memory for `limits->flows` connections.  `seed` makes the hash unpredictable; replays
 * may fix it, since no result depends on it.  NULL with errno if out of memory. */
struct flow_table *flow_table_new(const struct flow_limits *limits, uint64_t seed, flow_event_handler *report,
				  void *context);
void flow_table_free(struct flow_table *table);

/* Makes the memory of the first `flows` connections of a new table present, 230 bytes each: a connection that begins
 * later does not wait until the kernel has cleared its page. */
void flow_table_populate(struct flow_table *table, uint32_t flows);

/* Sets the handler of ends, which gets the context of that of events. */
void flow_table_set_end_handler(struct flow_table *table, flow_end_handler *handler);

/* Changes the timeouts.  A running timer keeps its deadline until the next packet.  The number of flows does not
 * change. */
void flow_table_set_timeouts(struct flow_table *table, const struct flow_limits *limits);

/* Shares connection ids between the tables of one run: this is table `number` (from 0) of `of`, and its ids differ from
 * those of the others.  Call it before the first flow. */
void flow_table_set_id_stride(struct flow_table *table, unsigned number, unsigned of);

/* Bytes reserved for a table of `flows` flows. */
size_t flow_table_memory_size(uint32_t flows);

/* Computes the key of a TCP, UDP or SCTP packet and which end sent it. */
void flow_key_from_packet(const struct packet *packet, struct flow_key *key, unsigned *sender);

/* Computes the key of the connection that an ICMP error quotes, and which end sent the quoted packet.  False if the
 * quote has no ports. */
bool flow_key_from_icmp_error(const struct packet *packet, struct flow_key *key, unsigned *sender);

uint32_t flow_key_hash(const struct flow_table *table, const struct flow_key *key);

/* flow_key_from_packet() and flow_key_hash() in one; returns the hash. */
uint32_t flow_key_hash_packet(const struct flow_table *table, const struct packet *packet, struct flow_key *key,
			      unsigned *sender);

/* The flow of a key, NULL if there is none. */
struct flow *flow_table_lookup(struct flow_table *table, const struct flow_key *key, uint32_t hash);

/* Sets the candidate of the next lookup of flow_table_lookup_tcp() or flow_table_lookup_udp(): the flow that it
 * probably finds, or NULL. */
void flow_table_set_candidate(struct flow_table *table, struct flow *candidate);

/* Returns the flow of a TCP segment: an existing one, a new one, or NULL if the segment proves no connection (a stray
 * RST), or if the flow's timer has just expired and the segment proves no new one.  If the segment ends an old
 * incarnation (a SYN that reuses the ends of a TIME_WAIT connection), that is reported through the table's callback
 * while the old flow is still intact. */
struct flow *flow_table_lookup_tcp(struct flow_table *table, const struct packet *packet, const struct flow_key *key,
				   uint32_t hash, unsigned sender, uint64_t now);

/* Like flow_table_lookup_tcp() for a UDP datagram, which is also counted for its sender; never NULL.  A new stream adds
 * EVENT_UDP_STREAM_START for the sender's end to `*events`: one for both ends, as with EVENT_UDP_STREAM_END. */
struct flow *flow_table_lookup_udp(struct flow_table *table, const struct packet *packet, const struct flow_key *key,
				   uint32_t hash, unsigned sender, uint64_t now, struct flow_events *events);

/* Like flow_table_lookup_tcp() for an SCTP packet.  `*sender` changes if the packet used another path of a
 * multi-homed association than the one in the flow's key.  NULL if the packet proves no association (for example
 * ABORT).  `*anomaly` is the packet's anomaly within its association, or ANOMALY_NONE; a packet with an anomaly
 * changes no state. */
struct flow *flow_table_lookup_sctp(struct flow_table *table, const struct packet *packet, const struct flow_key *key,
				    uint32_t hash, unsigned *sender, uint64_t now, enum anomaly *anomaly);

/* Whether the next segment is probably a duplicate: what is captured at its place is captured elsewhere, too
 * (flow/duplicates.h). */
void flow_table_expect_duplicate(struct flow_table *table, bool expected);

/* Omits events that no caller needs while nothing is reported: EVENT_TCP_STATE_CHANGE always, and on the fast path also
 * EVENT_TCP_CONNECT_ESTABLISHED and EVENT_TCP_ACCEPT_ESTABLISHED. */
void flow_table_omit_states(struct flow_table *table, bool omit);

/* Runs the timers of all flows whose deadline is not after `now`, in order of deadline.  Costs one comparison if none
 * is due.  Call it for every frame before the frame is processed.  `now` may jump forwards and backwards. */
void flow_table_run_timers(struct flow_table *table, uint64_t now);

/* Removes all flows without events, as at the end of a capture file.  Connections whose records are kept are reported
 * with RECORD_CAPTURE_END (flow/record/flow_record.h). */
void flow_table_clear(struct flow_table *table);

/* The input has ended: counts what was not captured of the connections that are open, as of those that have been
 * removed. */
void flow_table_count_open(struct flow_table *table);

/* Index of a flow in the table: at least 1 and at most the limit of flows; never that of another flow in the table. */
uint32_t flow_table_index(const struct flow_table *table, const struct flow *flow);

/* Entries of an array that flow_table_index() indexes, of a table of at most `flows` flows: index 0 is not a flow. */
static inline size_t
flow_index_space(uint32_t flows)
{
	return (size_t)flows + 1;
}

/* Connection id of an endpoint: at least 1, unique within a run, increasing with each new connection. */
uint64_t flow_cid(const struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Sets the difference between packet time and the time stamps of frames, modulo 2^64; converts a packet time. */
void flow_table_set_clock_offset(struct flow_table *table, uint64_t offset);
uint64_t flow_table_time_stamp(const struct flow_table *table, uint64_t time);

/* Time stamps of the flow's first and latest packet, ns since the epoch. */
uint64_t flow_first_seen(const struct flow_table *table, const struct flow *flow);
uint64_t flow_last_seen(const struct flow_table *table, const struct flow *flow);

const struct flow_counters *flow_table_counters(const struct flow_table *table);

/* Sets local_epoch of every flow to 0. */
void flow_table_clear_local_epochs(struct flow_table *table);

/* Visits every flow, in no particular order. */
typedef void flow_visitor(void *context, const struct flow *flow);
void flow_table_visit(const struct flow_table *table, flow_visitor *visit, void *context);

/* Sets `slow` of every flow to what `is_slow` returns for it. */
typedef bool flow_predicate(const void *context, const struct flow *flow);
void flow_table_set_slow(struct flow_table *table, flow_predicate *is_slow, const void *context);

/* Visits every flow, one per call: `*index` is 0 at first and increases; `*flow` is NULL for an index that is free.
 * False at the end.  A flow that exists throughout is visited exactly once. */
bool flow_table_next(const struct flow_table *table, uint32_t *index, const struct flow **flow);

#endif
