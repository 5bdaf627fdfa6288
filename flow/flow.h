/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow table: connections by their two ends.
 *
 * One table per capture thread.  All memory is reserved at start and never grows.  Time is an argument, always the
 * capture's clock, so replaying a file gives the same events each time.
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

/* Two ends in canonical order: the smaller (address, port) pair is end 0.  No padding: compared as bytes. */
struct flow_key {
	uint8_t addr[2][16]; /* network order; IPv4 in the first four bytes, the rest zero */
	uint16_t port[2];    /* host order */
	uint8_t protocol;    /* 6, 17 or 132 */
	uint8_t version;     /* 4 or 6 */
	uint16_t space;	     /* 0, or which tunnel's address space this is */
};

_Static_assert(sizeof(struct flow_key) == 40, "the key has no padding");

/* The half of a flow that every packet touches: three cache lines. */
struct flow {
	struct flow_key key;
	uint64_t last; /* time of its last packet, ns */
	uint32_t hash;
	uint8_t kind;  /* enum flow_kind */
	uint8_t local; /* bit n: end n is local (probes fire for it); kept by the caller */
	uint8_t first : 1; /* the end whose packet was seen first */
	uint8_t same_host : 1; /* both ends are sockets of one host, as on loopback; kept by the caller */
	uint8_t judged : 6; /* by which local addresses `local` was judged, 0 never; kept by the caller */
	uint64_t deadline; /* when a timer acts on it next if no packet comes, ns; see flow_table_run_timers */
	union {
		struct tcp_end tcp[2];
		struct udp_end udp[2];
		struct sctp_end sctp[2];
	};
};

_Static_assert(sizeof(struct flow) == 192, "the hot half of a flow is three cache lines");

/* The half that only a birth, a death, a timer or a probe looks at: 40 bytes. */
struct flow_cold;

struct flow_limits {
	uint32_t flows;		    /* ceiling: connections tracked at once */
	uint64_t tcp_connect_ns;    /* a SYN unanswered for so long was given up (Linux: 127 s) */
	uint64_t tcp_time_wait_ns;  /* 2MSL (Linux: 60 s) */
	uint64_t tcp_idle_ns;	    /* an established connection silent for so long is forgotten */
	uint64_t tcp_closing_ns;    /* the same with a FIN seen */
	uint64_t udp_idle_ns;	    /* a UDP stream silent for so long has ended */
	uint64_t sctp_setup_ns;	    /* an association in setup or shutdown silent for so long was given up */
	uint64_t sctp_idle_ns;	    /* an established association silent for so long is forgotten */
	uint64_t sctp_closed_ns;    /* a closed one is remembered for so long */
	uint64_t tcp_reply_ns; /* a FIN or RST takes effect when its receiver shows it, or after so long; 0 at once */
};

/* What Linux does, where Linux has a figure; 1,000,000 flows. */
struct flow_limits flow_limits_default(void);

/* 64-bit, never wrap in practice; read at any time by the thread that owns the table. */
struct flow_counters {
	uint64_t flows;		  /* now */
	uint64_t created;
	uint64_t expired;	  /* by a timer */
	uint64_t evicted_half_open; /* at the ceiling, in this order: */
	uint64_t evicted_closing;
	uint64_t evicted_udp;
	uint64_t evicted_idle;
	uint64_t evicted_oldest;
	uint64_t evicted_crowded; /* below it: too many keys hashed to one place, which nobody does by chance */
	uint64_t reused;	  /* a SYN or an INIT began a new connection between the same two ends */
	uint64_t midstream;	  /* picked up without its beginning */
	uint64_t longest_probe;	  /* slots between a new flow's own and the first free one, at worst so far, plus one */
};

struct flow_table;

/* Told of every event that a timer, an eviction or the reuse of a flow's ends causes, in time order: the flow is still
 * whole during the call. */
typedef void flow_timer_report(void *context, struct flow *flow, const struct flow_events *events);

/* Reserves all memory for `limits->flows` connections.  `seed` makes the hash unpredictable; replays may fix it: no
 * result depends on it.  Returns NULL with errno if memory cannot be had. */
struct flow_table *flow_table_new(const struct flow_limits *limits, uint64_t seed, flow_timer_report *report,
				  void *context);
void flow_table_free(struct flow_table *table);

/* Other times from now on; a timer that runs keeps its deadline until the next packet.  The number of flows stays. */
void flow_table_set_times(struct flow_table *table, const struct flow_limits *limits);

/* Several tables make connection ids for one run: this is table `number`, from 0, of so many, and none of its ids is
 * another's.  To be called before the first flow. */
void flow_table_share_ids(struct flow_table *table, unsigned number, unsigned of);

/* Bytes reserved for a table of this many flows. */
size_t flow_table_memory(uint32_t flows);

/* The key of a TCP, UDP or SCTP packet and which end sent it. */
void flow_key_of(const struct packet *packet, struct flow_key *key, unsigned *sender);

/* The key of the connection that an ICMP error quotes, and which end had sent the quoted packet.  False if the quote
 * has no ports. */
bool flow_key_of_quote(const struct packet *packet, struct flow_key *key, unsigned *sender);

uint32_t flow_hash(const struct flow_table *table, const struct flow_key *key);

/* flow_key_of(), then flow_hash(), which is the result. */
uint32_t flow_key_and_hash(const struct flow_table *table, const struct packet *packet, struct flow_key *key,
			   unsigned *sender);

/* The steps of a look-up that are spread out so that memory latencies overlap: first the slot; then the flow, of which
 * the one that it probably is is given, or NULL; then what else its packet may touch; then the search proper. */
void flow_prefetch_slot(const struct flow_table *table, uint32_t hash);
struct flow *flow_prefetch(const struct flow_table *table, uint32_t hash);
void flow_prefetch_rest(const struct flow_table *table, const struct flow *near);
struct flow *flow_find(struct flow_table *table, const struct flow_key *key, uint32_t hash);

/* Says that the next look-up of flow_for_tcp() or flow_for_udp() probably finds `near`, as flow_prefetch() gave it. */
void flow_expect(struct flow_table *table, struct flow *near);

/* The flow that a TCP segment belongs to: an old one, a new one, or NULL where the segment proves none (a stray RST)
 * or the flow's timer ran out just now and it proves no new one.  What ends with an old incarnation (a SYN that reuses
 * the ends of a TIME_WAIT connection) is told through the table's report, while that flow is still whole. */
struct flow *flow_for_tcp(struct flow_table *table, const struct packet *packet, const struct flow_key *key,
			  uint32_t hash, unsigned sender, uint64_t now);

/* The same for a UDP datagram, which is counted with its sender; never NULL.  A new stream's EVENT_UDP_STREAM_START,
 * of the sender's end, is added to `*events`; there is one for both ends, as there is one EVENT_UDP_STREAM_END. */
struct flow *flow_for_udp(struct flow_table *table, const struct packet *packet, const struct flow_key *key,
			  uint32_t hash, unsigned sender, uint64_t now, struct flow_events *events);

/*
 * The same for an SCTP packet.  `*sender` is changed where the packet came on another path of a multi-homed association
 * than the one whose addresses are the flow's key.  NULL where the packet proves no association (an ABORT, say).
 * `*odd` is what is odd about the packet in its association, ANOMALY_NONE if nothing: such a packet moves no state.
 */
struct flow *flow_for_sctp(struct flow_table *table, const struct packet *packet, const struct flow_key *key,
			   uint32_t hash, unsigned *sender, uint64_t now, enum anomaly *odd);

/* Acts on every flow whose deadline has passed at `now`, in order of deadline.  When nothing is due it costs one
 * comparison: call it for every frame, before the frame is looked at.  Time may leap either way. */
void flow_table_run_timers(struct flow_table *table, uint64_t now);

/* Ends everything that is still open without events, as when a capture file ends. */
void flow_table_clear(struct flow_table *table);

/* Connection id of an endpoint: unique and never reused in a run, rising with each new connection, at least 1. */
uint64_t flow_cid(const struct flow_table *table, const struct flow *flow, unsigned end);

/* When the flow was first seen, ns since the epoch. */
uint64_t flow_start(const struct flow_table *table, const struct flow *flow);

const struct flow_counters *flow_table_counters(const struct flow_table *table);

/* Visits every flow, in no particular order. */
typedef void flow_visitor(void *context, const struct flow *flow);
void flow_table_visit(const struct flow_table *table, flow_visitor *visit, void *context);

/* The same step by step, for who must not take long: `*place` is 0 at first and rises.  `*flow` is NULL where a place
 * is free.  False at the end.  A flow that lives all the while is met once. */
bool flow_table_step(const struct flow_table *table, uint32_t *place, const struct flow **flow);

#endif
