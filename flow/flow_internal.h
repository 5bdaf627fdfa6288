/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of flow/ and private to them. */
#ifndef NETOBS_FLOW_FLOW_INTERNAL_H
#define NETOBS_FLOW_FLOW_INTERNAL_H

#include "flow/flow.h"

/* Eviction classes, in the order in which they are evicted; the oldest flow of a class first.  Flows of ESTABLISHED and
 * DATAGRAM that were active recently are skipped. */
enum flow_class {
	CLASS_HALF_OPEN,   /* TCP before it is established */
	CLASS_CLOSING,	   /* TCP with a FIN or RST seen */
	CLASS_DATAGRAM,	   /* UDP */
	CLASS_ESTABLISHED, /* TCP */
	CLASS_COUNT
};

/* Index of a flow in the slab; 0 means none. */
typedef uint32_t flow_index;

/*
 * 40 bytes for each flow: with a million flows every byte is a megabyte.  Small, rarely used fields share a word with
 * the serial, whose 52 bits suffice for a new connection every 200 ns for 28 years.
 */
struct flow_cold {
	uint64_t marks;	 /* from the low bits up: enum flow_class, 2 bits; TCP: which ends offered timestamps in their
			  * SYN, 2 bits, and the window shift of each end, 4 bits each; the serial */
	uint64_t start;	 /* first packet, ns */
	flow_index wheel_next, wheel_prev; /* neighbours in the timer wheel's slot */
	flow_index class_next, class_prev; /* neighbours in the class list, in order of entry */
	uint16_t slot;	 /* slot of the timer wheel */
	uint16_t detail; /* index + 1 of the TCP loss detail in its pool, 0 none */
	uint16_t mss[2]; /* TCP: MSS option of each end's SYN, 0 none */
};

_Static_assert(sizeof(struct flow_cold) == 40, "the cold half of a flow is 40 bytes");

#define COLD_CLASS 3ull
#define COLD_STAMPS_PLACE 2
#define COLD_SHIFT_PLACE 4
#define COLD_SERIAL_PLACE 12

/* Serial of the flow: its connection ids are 2 * serial - 1 and 2 * serial.  0 marks a free place. */
static inline uint64_t
cold_serial(const struct flow_cold *cold)
{
	return cold->marks >> COLD_SERIAL_PLACE;
}

static inline enum flow_class
cold_class(const struct flow_cold *cold)
{
	return (enum flow_class)(cold->marks & COLD_CLASS);
}

static inline void
cold_set_class(struct flow_cold *cold, enum flow_class class)
{
	cold->marks = (cold->marks & ~COLD_CLASS) | class;
}

/* Whether every segment carries timestamps: both ends have offered them. */
static inline bool
cold_is_stamped(const struct flow_cold *cold)
{
	return (cold->marks >> COLD_STAMPS_PLACE & 3) == 3;
}

/* Window shift that an end has offered, 0 if none. */
static inline uint8_t
cold_shift(const struct flow_cold *cold, unsigned end)
{
	return cold->marks >> (COLD_SHIFT_PLACE + 4 * end) & 15;
}

/* Records the options of an end's SYN.  `shift` is at most 14 (RFC 7323 section 2.3); dissect/ ensures that. */
static inline void
cold_offer(struct flow_cold *cold, unsigned end, uint8_t shift, bool stamps)
{
	unsigned place = COLD_SHIFT_PLACE + 4 * end;

	cold->marks = (cold->marks & ~(15ull << place)) | (uint64_t)shift << place |
		      (uint64_t)stamps << (COLD_STAMPS_PLACE + end);
}

struct flow_cold *flow_cold(struct flow_table *table, const struct flow *flow);
const struct flow_limits *flow_table_limits(const struct flow_table *table);
struct flow_counters *flow_table_count(struct flow_table *table);

/* Creates a flow in its class with its deadline armed; the `end` memory is zero.  A full table evicts another flow
 * first, so this never fails. */
struct flow *flow_create(struct flow_table *table, const struct flow_key *key, uint32_t hash, enum flow_kind kind,
			 enum flow_class class, unsigned sender, uint64_t now, uint64_t deadline);

/* Removes a flow from the table.  Its memory is reused. */
void flow_remove(struct flow_table *table, struct flow *flow);

/* Moves a flow to the end of another class's list.  No effect if it is in that class already. */
void flow_set_class(struct flow_table *table, struct flow *flow, enum flow_class class);

/* Sets an exact deadline, earlier or later than the present one.  Do not call it for idle timeouts, which move with
 * every packet: keep the deadline and return a later one from the timer (see tcp_timer()). */
void flow_set_deadline(struct flow_table *table, struct flow *flow, uint64_t deadline);

/* The flow of these two ends.  If its timer expires before `now`, the timer runs first and the result is NULL. */
struct flow *flow_find_live(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now);

/* Passes the events to the table's owner, if there are any. */
void flow_report(struct flow_table *table, struct flow *flow, const struct flow_events *events);

/* State that the TCP machine keeps outside the flows (flow/tcp/tcp_pools.h); created and freed with the table. */
struct tcp_store;

struct tcp_store *tcp_store_new(uint32_t flows);
void tcp_store_free(struct tcp_store *store);
size_t tcp_store_memory(uint32_t flows);
struct tcp_store *flow_table_tcp(const struct flow_table *table);

/* Addresses and tags of SCTP endpoints (flow/sctp/sctp_addr_table.h), likewise. */
struct sctp_store;

struct sctp_store *sctp_store_new(uint32_t flows);
void sctp_store_free(struct sctp_store *store);
size_t sctp_store_memory(uint32_t flows);
struct sctp_store *flow_table_sctp(const struct flow_table *table);

/* Index of a flow and flow of an index, for code that stores indices. */
flow_index flow_table_index(const struct flow_table *table, const struct flow *flow);
struct flow *flow_table_at(const struct flow_table *table, flow_index index);

/*
 * Handles a flow's expired deadline.  `now` is the deadline itself, however late this runs.  Returns the next deadline,
 * later than `now`, if the flow stays (for an idle timeout: last packet + timeout), or 0 to remove it.  The caller
 * reports the events before the removal.
 */
uint64_t tcp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
uint64_t udp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
uint64_t sctp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

/* Called before a flow is evicted or cleared: adds the events that are due and frees what belongs to the flow. */
void tcp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void udp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void sctp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

/* Dispatch on the flow's kind. */
static inline uint64_t
flow_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	if (flow->kind == FLOW_TCP)
		return tcp_timer(table, flow, now, events);
	return (flow->kind == FLOW_UDP ? udp_timer : sctp_timer)(table, flow, now, events);
}

static inline void
flow_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	if (flow->kind == FLOW_TCP)
		tcp_evicted(table, flow, now, events);
	else
		(flow->kind == FLOW_UDP ? udp_evicted : sctp_evicted)(table, flow, now, events);
}

/* Counts a datagram of the stream. */
static inline void
udp_count(struct flow *flow, unsigned sender, uint32_t bytes, uint64_t now)
{
	flow->udp[sender].bytes += bytes;
	flow->udp[sender].datagrams++;
	if (now > flow->last)
		flow->last = now;
}

/* `now` + `span`, saturating: time stamps in a file are arbitrary. */
static inline uint64_t
deadline_after(uint64_t now, uint64_t span)
{
	return span < UINT64_MAX - now ? now + span : UINT64_MAX;
}

static inline struct flow_event *
event_add(struct flow_events *events, enum flow_event_kind kind, unsigned end, uint64_t ts)
{
	unsigned place = events->count < FLOW_EVENTS_MAX - 1 ? events->count++ : FLOW_EVENTS_MAX - 1;
	struct flow_event *e = &events->event[place];

	*e = (struct flow_event){.kind = kind, .end = (uint8_t)end, .ts = ts};
	return e;
}

#endif
