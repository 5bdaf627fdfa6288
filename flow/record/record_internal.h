/* SPDX-License-Identifier: BSD-2-Clause */
/* The accounting of connection records, for the files of flow/. */
#ifndef NETOBS_FLOW_RECORD_RECORD_INTERNAL_H
#define NETOBS_FLOW_RECORD_RECORD_INTERNAL_H

#include "flow/flow_internal.h"
#include "flow/record/flow_record.h"
#include "flow/record/record_time.h"

#define record_unlikely(x) __builtin_expect(!!(x), 0)

/* Interface names are at most this long, with the terminating zero. */
#define RECORD_INTERFACE_NAME 16

/* Slots of the hash table of interface names. */
#define RECORD_INTERFACES 4096u

#define RECORD_ACTIVE_MAX 0x1fffffu

struct record_name {
	char from[RECORD_NAME_FROM_SIZE];
	char name[RECORD_NAME_SIZE];
};

/* What few connections have. */
struct record_rare {
	struct record_excess earlier;  /* with `follows` */
	struct record_icmp icmp;       /* with RECORD_UNREACHED */
};

/* Records of one flow table. */
struct record_table {
	struct flow_record *entries; /* by flow index; NULL: no records are kept */
	struct flow *ended;	     /* connection that the packet in progress has ended, NULL none */
	record_handler *handler;
	void *context;
	uint64_t active_interval_ns; /* 0: open connections are not reported */
	char (*interfaces)[RECORD_INTERFACE_NAME]; /* hash table of names */
	struct flow_time *times;		   /* by flow index */
	enum tcp_retransmit_kind resent;	   /* of the segment in progress */
	struct record_name *names;		   /* by flow index */
	struct record_rare *rare;		   /* by flow index */
	struct record_totals totals;
};

/* A packet as the accounting needs it. */
struct record_packet {
	uint64_t now;	  /* packet time, ns */
	uint32_t wire;	  /* bytes on the wire */
	unsigned sender;
	uint8_t flags;	  /* TCP flags */
	bool udp;	  /* it is a datagram: only its place in the capture shows which request it answers */
	bool window_closed; /* TCP: the sender's window is closed */
	const struct tcp_endpoint *from, *to; /* TCP, else NULL: its sender, which has sent it, and its receiver, which
					       * has not received it */
	uint32_t fresh;	  /* payload bytes that were not captured before */
	bool hole;	  /* TCP: bytes of the sender below those of the packet were missing */
	bool resent;	  /* TCP: it repeats what was not acknowledged */
	bool needless;	  /* TCP: it reports that a segment came twice (D-SACK, RFC 2883) */
	bool answers;	  /* fresh, and the sender has received all payload that its peer was captured sending */
	bool unordered;	  /* the payload was acknowledged before it was captured, or acknowledges what was not: the time
			   * between a request and its answer is unknown */
};

/* Prefetches a record that begins soon. */
static inline void
record_prefetch(const struct flow_record *record)
{
	__builtin_prefetch(record, 1);
	__builtin_prefetch(&record->since, 1);
}

/* Begins the record of a flow that is created. */
void record_begin(struct flow_table *table, const struct flow *flow);

/* Begins the record of a flow that is older than its table's records, unless it has begun.  Call it before the flow
 * changes. */
void record_prepare(struct flow_table *table, struct flow *flow);

/* A segment is sent off the fast path.  If a RST or an ICMP error has ended the connection, it may be the first of
 * those that go on: they are counted from here, and reported if it does.  Call it before the flow changes. */
void record_expect_more(struct flow_table *table, struct flow *flow);

/* The flow counts the bytes of this endpoint from 0 again. */
void record_restart_bytes(struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Slow path: counts a packet of the flow that `p->sender` has sent.  The record has begun. */
void record_count_packet(struct flow_table *table, const struct flow *flow, const struct packet *packet,
			 struct record_packet *p);

/* Slow path: counts an anomaly of a packet. */
void record_count_anomaly(struct flow_table *table, const struct flow *flow, enum anomaly anomaly);
void record_count_anomalies(struct flow_table *table, const struct flow *flow, const struct packet *packet);

/* TCP: whether an endpoint has closed its window. */
bool record_window_is_closed(const struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* TCP: a round trip of `us` microseconds to endpoint `end` and back was measured; 0: no round trip. */
void record_count_round_trip(struct flow_table *table, const struct flow *flow, unsigned end, uint32_t us);

/* TCP: a segment repeats sequence space; a segment of `endpoint` was overtaken. */
void record_count_resent(struct flow_table *table, const struct flow *flow, enum tcp_retransmit_kind kind);
/* TCP: the SYN was sent again: counts the attempt if it has no answer. */
void record_check_attempt(struct flow_table *table, const struct flow *flow);
void record_count_out_of_order(struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* TCP: endpoint `endpoint` has received the ACK of its SYN: with the server's the handshake is complete. */
void record_complete_handshake(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint64_t now);

/* Endpoint `by` has reset the connection with a RST or ABORT, or refused the attempt.  `state`: enum tcp_state that it
 * had before. */
void record_set_reset(struct flow_table *table, const struct flow *flow, unsigned by, bool refused, uint8_t state);

/* TCP: the ICMP error of the packet has ended the attempt of the endpoint. */
void record_set_unreached(struct flow_table *table, const struct flow *flow, unsigned endpoint,
			  const struct packet *packet);

/* SCTP: an endpoint has left the association. */
void record_set_down(struct flow_table *table, const struct flow *flow);

/* Measures how long the window of an endpoint is closed, if it is. */
void record_measure_window(struct flow_record *record, unsigned endpoint, uint64_t now);

/* Decides which end is the client. */
void record_set_role(const struct flow *flow, struct flow_record *record);

/* Whether neither end can carry data any more. */
bool record_flow_is_closed(const struct flow *flow, const struct flow_record *record);

/* The states of the flow have changed: notes the end of the connection for flow_table_report_ended(). */
void record_check_end(struct flow_table *table, struct flow *flow);

/* Reports the end of the connection, unless it was reported: its flow is about to be removed for this reason. */
void record_report_removal(struct flow_table *table, const struct flow *flow, enum record_reason reason);

/* The interface and VLAN of a connection, for a new incarnation of it that begins without a frame; and what was counted
 * after its end, by endpoint. */
struct record_origin {
	uint16_t interface, vlan;
	uint32_t segments[2];
	uint64_t wire[2];
};

struct record_origin record_origin(const struct flow_table *table, const struct flow *flow);
void record_set_origin(struct flow_table *table, const struct flow *flow, struct record_origin origin);

/* The record of a new connection begins with what was counted after the end of the old one. */
void record_take_over(struct flow_table *table, const struct flow *flow, const struct record_origin *origin);

/* The flow is removed. */
void record_drop(struct flow_table *table, const struct flow *flow);

/* Frees the records of a table. */
void record_table_free(struct flow_table *table);

/* At the time at which the connection is reported as open next, or later: reports it, unless it was idle since the
 * multiple before. */
void record_run_active(struct flow_table *table, const struct flow *flow, uint64_t now);

/* Multiples of the active interval from the connection's start to `now`, at most RECORD_ACTIVE_MAX. */
uint32_t record_multiples(const struct flow_table *table, flow_index index, uint64_t now);

#endif
