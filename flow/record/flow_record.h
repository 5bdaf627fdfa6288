/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection records: what a connection's record needs and its flow does not hold.  A side array of the flow table with
 * 128 bytes for each flow, which exists only while records are kept.
 *
 * A connection ends when neither end can carry data any more: TCP in CLOSED or TIME_WAIT at both ends, SCTP in CLOSED
 * at both ends; otherwise when its flow is removed from the table or the capture ends.  What is captured later, in
 * TIME_WAIT, is not in the record.  A connection that a RST or an ICMP error has ended and that goes on has another
 * record, of what is captured after that end.
 */
#ifndef NETOBS_FLOW_RECORD_FLOW_RECORD_H
#define NETOBS_FLOW_RECORD_FLOW_RECORD_H

#include "flow/event.h"
#include "flow/flow.h"
#include "flow/record/record_time.h"

/* Totals over the connections of a flow table, counted while records are kept (flow/record/flow_record.h): 64-bit
 * counters that only the thread of the table writes. */

/* Why a connection has ended. */
enum record_reason {
	RECORD_OPEN,		/* it has not */
	RECORD_FIN,		/* both ends have closed in order */
	RECORD_RESET_BY_CLIENT,
	RECORD_RESET_BY_SERVER,
	RECORD_REFUSED,		/* the attempt was answered with RST, or ABORT for SCTP */
	RECORD_UNREACHABLE,	/* the attempt was answered with an ICMP error */
	RECORD_NO_ANSWER,	/* the attempt was not answered: its SYN was sent three times, or is 3 s old */
	RECORD_IDLE,		/* an idle timeout ended it, or its ends have begun another connection */
	RECORD_EVICTED,		/* its flow was evicted: the table was full */
	RECORD_CAPTURE_END,	/* the capture has ended */
	RECORD_REASON_COUNT
};

/* Word of a reason, as in cr_reason: "reset-by-client"; constant. */
const char *record_reason_name(enum record_reason reason);

#define RECORD_FLOW_KINDS (FLOW_SCTP + 1)
#define RECORD_BUCKETS 16u

/* Upper bounds of the buckets, inclusive, ascending, microseconds: 100 us to 10 s; the last one is not a bound. */
extern const uint32_t record_bucket_bounds_us[RECORD_BUCKETS + 1];

struct record_histogram {
	uint64_t count[RECORD_BUCKETS + 1]; /* not cumulative; the last bucket has no bound */
	uint64_t sum_us;
};

struct record_totals {
	uint64_t ended[RECORD_FLOW_KINDS][RECORD_REASON_COUNT]; /* by enum flow_kind; RECORD_OPEN: reports of open
								 * connections */
	uint64_t resets[2][TCP_STATE_COUNT];	/* TCP connections reset by the client, by the server; by the state of
						 * that end before; without refused attempts */
	uint64_t resent[RETRANSMIT_SYN + 1];	/* TCP segments that repeat sequence space, by enum
						 * tcp_retransmit_kind */
	uint64_t out_of_order;			/* TCP segments captured after segments that were sent later */
	uint64_t zero_windows[2];		/* times that a client, a server has closed its window */
	uint64_t unanswered;			/* TCP: attempts without an answer, counted when the SYN is sent for the
						 * third time, or else when the attempt ends */
	struct record_histogram handshake, rtt, answer;
};

/* Number of samples of a histogram. */
static inline uint64_t
record_histogram_samples(const struct record_histogram *histogram)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i <= RECORD_BUCKETS; i++)
		samples += histogram->count[i];
	return samples;
}

/* How client and server were told apart. */
enum record_role {
	RECORD_ROLE_SEEN,  /* a SYN or SYN,ACK (INIT or INIT ACK) was captured */
	RECORD_ROLE_PORT,  /* by the ports: the server's is below 1024, or below 32768, and the client's is not */
	RECORD_ROLE_FIRST, /* the client sent the first captured packet */
};

/* "seen", "port" or "first". */
const char *record_role_name(enum record_role role);

enum record_bit {
	RECORD_BEGUN = 0x0001,	       /* the entry is in use */
	RECORD_ENDED = 0x0002,	       /* the end was reported */
	RECORD_LATE = 0x0004,	       /* records were not kept yet when the connection began */
	RECORD_FROM_START = 0x0008,    /* the first packet was captured: SYN, INIT; UDP: that of the client */
	RECORD_CLIENT = 0x0010,	       /* number of the client's endpoint */
	RECORD_ROLE = 0x0060,	       /* enum record_role */
	RECORD_WAITS = 0x0080,	       /* a request waits for its answer */
	RECORD_SERVER_SENT = 0x0100,   /* payload of the server was captured */
	RECORD_WINDOW_CLOSED = 0x0200, /* endpoint 0 has closed its window; the next bit: endpoint 1 */
	RECORD_RESET = 0x0800,	       /* endpoint 0 has reset the connection; the next bit: endpoint 1 */
	RECORD_REFUSED_ATTEMPT = 0x2000, /* the reset answered the attempt */
	RECORD_DOWN = 0x4000,	       /* SCTP: an endpoint has left the association */
	RECORD_UNREACHED = 0x4000,     /* TCP: an ICMP error has ended the attempt of an endpoint for good */
	RECORD_EARLY = 0x4000,	       /* UDP: the server's payload may be captured in front of its request */
	RECORD_HANDSHAKE = 0x8000,     /* handshake_us is known */
};

#define RECORD_ROLE_SHIFT 5
#define RECORD_UNKNOWN_US UINT32_MAX
#define RECORD_NO_VLAN UINT16_MAX

/* Fields ending in _us are microseconds, saturating.  Pairs are by endpoint as in the flow, not by role.  A time in two
 * fields `_us` and `_high` is packet time in microseconds modulo 2^48. */
struct flow_record {
	/* First cache line: packets of the fast path change it. */
	uint64_t wire[2]; /* bytes on the wire, of the frames that each end sent */
	uint64_t answer_sum_us;
	uint32_t exchanges; /* requests that were answered, and captured in the order in which they were sent */
	uint32_t answer_max_us; /* until RECORD_SERVER_SENT: from the first packet to `request_us`; 0 in reports */
	uint32_t request_us;  /* last new byte of the request that waits for its answer; RECORD_EARLY: of the server */
	uint16_t request_high;
	uint16_t bits;	      /* enum record_bit */
	uint8_t flags[2];     /* TCP flags of all segments that each end sent */
	uint16_t vlan;	      /* of the first packet: VLAN id, RECORD_NO_VLAN none */
	uint8_t spare[20];
	/* Second cache line. */
	union {
		struct {
			uint32_t handshake_us;	/* first SYN to the ACK of the SYN,ACK */
			uint32_t first_byte_us; /* first packet to the server's first payload */
		};
		uint64_t since; /* with RECORD_LATE: packet time from which the counts of this struct hold, ns */
	};
	uint32_t out_of_order[2]; /* segments captured after segments that were sent later */
	uint32_t resent[4];	  /* by enum tcp_retransmit_kind - 1, both ends, without RETRANSMIT_SYN */
	uint16_t resent_syn;	  /* SYN and SYN,ACK, saturating */
	uint16_t zero_windows[2]; /* times that each end closed its window, saturating */
	uint16_t closed_high[2];  /* with RECORD_WINDOW_CLOSED: since when */
	uint16_t interface;	  /* of the first packet: see flow_record_interface() */
	uint32_t closed_us[2];
	uint32_t zero_window_us; /* longest time that a window was closed, at the end also of one that still is */
	uint32_t anomalies;	 /* anomalies of its packets */
	uint32_t first_anomaly : 8; /* enum anomaly */
	uint32_t active_count : 21; /* times that the connection was reported as open */
	uint32_t named : 1;	    /* it has a name (flow_table_name()) */
	uint32_t follows : 1;	    /* another record of the connection has ended: see struct record_excess */
	uint32_t waiting : 1;	    /* with RECORD_ENDED: this one has not, it counts what follows that end */
};

_Static_assert(sizeof(struct flow_record) == 128, "the record of a flow is two cache lines");

/* What the counts of the flow contain and the record does not, by endpoint: what another record of the connection
 * counts, and a SYN after the end, which may begin the next connection. */
struct record_excess {
	uint64_t bytes[2], wire[2];
	uint32_t segments[2], resent[2];
};

/* ICMP error that has answered an attempt to connect. */
struct record_icmp {
	uint8_t sender[16]; /* network order; IPv4 in the first four bytes */
	uint8_t version;    /* 4 ICMP, 6 ICMPv6 */
	uint8_t type, code;
	uint8_t endpoint; /* whose attempt it has ended, as in the flow */
};

/* Reports a connection that has ended, once, after the events of the packet or timer that ends it; with RECORD_OPEN one
 * that is still open.  The flow is still intact during the call, which must not change the table. */
typedef void record_handler(void *context, const struct flow *flow, const struct flow_record *record,
			    enum record_reason reason);

void flow_table_set_record_handler(struct flow_table *table, record_handler *handler, void *context);

/* Starts or stops keeping records; only the thread that owns the table may call it.  Connections that are open already
 * get a record with their next packet (RECORD_LATE).  False with errno if out of address space. */
bool flow_table_keep_records(struct flow_table *table, bool keep);

bool flow_table_keeps_records(const struct flow_table *table);

/* Bytes reserved for the records of `flows` flows. */
size_t flow_table_records_size(uint32_t flows);

/* Bytes of address space reserved for the names of `flows` flows, and for what few of them have: struct record_excess
 * and struct record_icmp.  Only those that have it take memory. */
size_t flow_table_names_size(uint32_t flows);
size_t flow_table_rare_size(uint32_t flows);

/* What is to be subtracted from the counts of the flow. */
struct record_excess flow_record_excess(const struct flow_table *table, const struct flow *flow);

/* The ICMP error that has ended the attempt, valid until the flow is removed; NULL if no error has. */
const struct record_icmp *flow_record_icmp(const struct flow_table *table, const struct flow *flow);

/* Reports each open connection at the multiples of `interval_ns` after its start, in packet time, as it was before the
 * packets from then on, unless it was idle since the multiple before; 0: never.  `now` is packet time.  Needs kept
 * records. */
void flow_table_set_active_interval(struct flow_table *table, uint64_t interval_ns, uint64_t now);

/* With RECORD_OPEN: the time that the report is for, ns since the epoch. */
uint64_t flow_record_active_time(const struct flow_table *table, const struct flow *flow,
				 const struct flow_record *record);

/* The record of a flow; NULL if no record is kept. */
const struct flow_record *flow_table_record(const struct flow_table *table, const struct flow *flow);

/* The time of a flow by class: WAIT_CLASSES microseconds, with a sum of the time from the first packet to the last one;
 * all of it is unknown if no record is kept.  The round trips and the rest are in the struct returned. */
const struct flow_time *flow_record_time(const struct flow_table *table, const struct flow *flow,
					 uint64_t us[WAIT_CLASSES]);

/* The record that a flow would have if records were kept from now on: its client and server, and nothing counted. */
void flow_record_from_now(const struct flow *flow, struct flow_record *record);

/* Number of the client's endpoint, and how it is known, whether or not records are kept. */
unsigned flow_find_client(const struct flow_table *table, const struct flow *flow, enum record_role *role);

/* Why the connection has ended, as its record says; RECORD_OPEN if it has not, RECORD_NO_ANSWER for an open attempt
 * that has waited for long enough at `time`, ns since the epoch. */
enum record_reason flow_record_reason(const struct flow_table *table, const struct flow *flow,
				      const struct flow_record *record, uint64_t time);

/* Whether the connection has ended, whether or not records are kept. */
bool flow_has_ended(const struct flow_table *table, const struct flow *flow);

/*
 * Names that application protocols give to connections: the first one counts.  A side array of the flow table with
 * 256 bytes for each flow, which exists while records are kept; only those of named connections take memory.
 */
#define RECORD_NAME_SIZE      248
#define RECORD_NAME_FROM_SIZE 8

/* Whether records are kept and the connection has no name yet. */
bool flow_table_wants_name(const struct flow_table *table, const struct flow *flow);

/* Stores the name, up to 247 bytes of it, if the connection wants one.  `from`: name of the protocol, up to 7 bytes. */
void flow_table_set_name(struct flow_table *table, const struct flow *flow, const char *name, const char *from);

/* The name, and in `*from` the protocol, valid until the flow is removed; "" none. */
const char *flow_table_name(const struct flow_table *table, const struct flow *flow, const char **from);

/* Reports the connection that the latest packet has ended, if any.  Call it after the events of each packet that does
 * not take the fast path. */
void flow_table_report_ended(struct flow_table *table);

/* The capture has ended at `now`, packet time: reports every open connection with RECORD_CAPTURE_END, or
 * RECORD_NO_ANSWER.  The flows stay. */
void flow_table_end_records(struct flow_table *table, uint64_t now);

/* Totals over the connections whose records were kept; only the thread that owns the table may read them. */
const struct record_totals *flow_table_record_totals(const struct flow_table *table);

/* Time stamp, ns since the epoch, from which the counts of the record hold: the first packet's, unless RECORD_LATE. */
uint64_t flow_record_since(const struct flow_table *table, const struct flow *flow, const struct flow_record *record);

/* Name of the interface of the first packet, "" if unknown: at most 15 characters. */
const char *flow_record_interface(const struct flow_table *table, const struct flow_record *record);

/* Number of the client's endpoint, 0 or 1. */
static inline unsigned
flow_record_client(const struct flow_record *record)
{
	return (record->bits & RECORD_CLIENT) != 0;
}

static inline enum record_role
flow_record_role(const struct flow_record *record)
{
	return (enum record_role)((record->bits & RECORD_ROLE) >> RECORD_ROLE_SHIFT);
}

/* Microseconds from the first SYN to the ACK of the SYN,ACK, and from the first packet to the server's first payload;
 * RECORD_UNKNOWN_US unknown. */
static inline uint32_t
flow_record_handshake_us(const struct flow_record *record)
{
	return (record->bits & RECORD_HANDSHAKE) != 0 ? record->handshake_us : RECORD_UNKNOWN_US;
}

static inline uint32_t
flow_record_first_byte_us(const struct flow_record *record)
{
	uint16_t known = RECORD_FROM_START | RECORD_SERVER_SENT;

	return (record->bits & known) == known ? record->first_byte_us : RECORD_UNKNOWN_US;
}

/* Segments of both ends that repeat sequence space, by cause. */
static inline uint32_t
flow_record_resent(const struct flow_record *record, enum tcp_retransmit_kind kind)
{
	return kind == RETRANSMIT_SYN ? record->resent_syn : record->resent[kind - 1];
}

#endif
