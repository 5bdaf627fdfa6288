/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of flow/ share and nobody else sees. */
#ifndef NETOBS_FLOW_FLOW_INTERNAL_H
#define NETOBS_FLOW_FLOW_INTERNAL_H

#include "flow/flow.h"

/* Which connections go first when the table is full: the classes in this order, the oldest of a class first.
 * ESTABLISHED passes over those that were active lately. */
enum flow_class {
	CLASS_HALF_OPEN,   /* TCP before it is established */
	CLASS_CLOSING,	   /* TCP with a FIN or RST seen */
	CLASS_DATAGRAM,	   /* UDP */
	CLASS_ESTABLISHED, /* TCP */
	CLASS_COUNT
};

/* Index of a flow in the slab; 0 is nobody. */
typedef uint32_t flow_index;

/*
 * 40 bytes beside each flow: with a million of them every byte is a megabyte.  What is small and seldom asked for
 * shares a word with the serial, of which 52 bits are enough for a new connection every 200 ns in 28 years.
 */
struct flow_cold {
	uint64_t marks;	 /* from below: enum flow_class, 2 bits; TCP: which ends offered timestamps in their SYN, 2
			  * bits, and the shift that each end offered there, 4 bits each; the serial */
	uint64_t start;	 /* ns */
	flow_index wheel_next, wheel_prev; /* neighbours in a slot of the timer wheel */
	flow_index class_next, class_prev; /* neighbours in the list of its class, in order of entry */
	uint16_t slot;	 /* of the wheel */
	uint16_t detail; /* index + 1 of the TCP loss detail in its pool, 0 without */
	uint16_t mss[2]; /* TCP: the MSS option in each end's SYN, 0 without */
};

_Static_assert(sizeof(struct flow_cold) == 40, "the cold half of a flow is 40 bytes");

#define COLD_CLASS 3ull
#define COLD_STAMPS_PLACE 2
#define COLD_SHIFT_PLACE 4
#define COLD_SERIAL_PLACE 12

/* Connection ids are 2 * serial - 1 and 2 * serial.  0: the place is free. */
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

/* Whether timestamps are in every segment: once both ends have offered them. */
static inline bool
cold_is_stamped(const struct flow_cold *cold)
{
	return (cold->marks >> COLD_STAMPS_PLACE & 3) == 3;
}

/* The shift that an end offered, 0 without. */
static inline uint8_t
cold_shift(const struct flow_cold *cold, unsigned end)
{
	return cold->marks >> (COLD_SHIFT_PLACE + 4 * end) & 15;
}

/* What an end's SYN offers; `shift` is at most 14 (RFC 7323 section 2.3), which dissect/ sees to. */
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

/* A new flow in its class with its deadline armed; `end` memory is zero.  At the ceiling somebody is evicted first,
 * so it never fails. */
struct flow *flow_create(struct flow_table *table, const struct flow_key *key, uint32_t hash, enum flow_kind kind,
			 enum flow_class class, unsigned sender, uint64_t now, uint64_t deadline);

/* Takes a flow out of the table.  Its memory is used again. */
void flow_remove(struct flow_table *table, struct flow *flow);

/* Moves a flow to the end of another class's list; nothing if it is there already. */
void flow_set_class(struct flow_table *table, struct flow *flow, enum flow_class class);

/* Arms an exact deadline sooner or later than the present one.  For idle timeouts that move with every packet do not
 * call this: leave the deadline and answer the timer with a later one (see tcp_timer). */
void flow_set_deadline(struct flow_table *table, struct flow *flow, uint64_t deadline);

/* The flow of these two ends, unless its timer runs out before `now`: then that has been told and it is gone. */
struct flow *flow_find_live(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now);

/* Tells the table's owner, if there is anything to tell. */
void flow_report(struct flow_table *table, struct flow *flow, const struct flow_events *events);

/* What the TCP machine keeps beside the flows (flow/tcp/tcp_pools.h): made and freed with the table. */
struct tcp_store;

struct tcp_store *tcp_store_new(uint32_t flows);
void tcp_store_free(struct tcp_store *store);
size_t tcp_store_memory(uint32_t flows);
struct tcp_store *flow_table_tcp(const struct flow_table *table);

/* The same for the addresses and tags of SCTP endpoints (flow/sctp/sctp_addr_table.h). */
struct sctp_store;

struct sctp_store *sctp_store_new(uint32_t flows);
void sctp_store_free(struct sctp_store *store);
size_t sctp_store_memory(uint32_t flows);
struct sctp_store *flow_table_sctp(const struct flow_table *table);

/* Flows by their index, for those who keep one. */
flow_index flow_table_index(const struct flow_table *table, const struct flow *flow);
struct flow *flow_table_at(const struct flow_table *table, flow_index index);

/*
 * A flow's deadline has passed.  `now` is that deadline itself, however late it is noticed.  Answers the next
 * deadline, later than `now`, if it lives on (an idle timeout whose flow was active since: last + timeout), 0 if it is
 * to be removed.  Events are reported by the caller before the removal.
 */
uint64_t tcp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
uint64_t udp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
uint64_t sctp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

/* A flow is about to be evicted or cleared: what must be told and what hangs on it must go. */
void tcp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void udp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void sctp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

/* Both by the flow's kind. */
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

/* A datagram of the stream. */
static inline void
udp_count(struct flow *flow, unsigned sender, uint32_t bytes, uint64_t now)
{
	flow->udp[sender].bytes += bytes;
	flow->udp[sender].datagrams++;
	if (now > flow->last)
		flow->last = now;
}

/* `span` after `now`.  Stamps in a file may be anything: the end of time is never passed. */
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
