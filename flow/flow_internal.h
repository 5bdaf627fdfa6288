/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of flow/ and private to them. */
#ifndef NETOBS_FLOW_FLOW_INTERNAL_H
#define NETOBS_FLOW_FLOW_INTERNAL_H

#include "flow/flow.h"

/* Eviction classes, in the order in which they are evicted; the oldest flow of a class first.  Flows of UDP and
 * ESTABLISHED that were active recently are skipped. */
enum evict_class {
	EVICT_CLASS_HALF_OPEN, /* TCP and SCTP before they are established */
	EVICT_CLASS_CLOSING,   /* TCP from the first FIN or RST on, SCTP from the first SHUTDOWN or ABORT on */
	EVICT_CLASS_UDP,
	EVICT_CLASS_ESTABLISHED, /* TCP and SCTP */
	EVICT_CLASS_COUNT
};

/* Index of a flow in the slab; 0 means none. */
typedef uint32_t flow_index;

/*
 * 40 bytes for each flow: with a million flows every byte is a megabyte.  Small, rarely used fields share a word with
 * the serial, whose 52 bits suffice for a new connection every 200 ns for 28 years.
 */
struct flow_cold {
	uint64_t packed;		   /* from the low bits up: enum evict_class, 2 bits; TCP: which ends offered
					    * timestamps in their SYN, 2 bits, and the window shift of each end, 4 bits
					    * each; the serial */
	uint64_t first_seen;		   /* first packet, ns */
	flow_index wheel_next, wheel_prev; /* neighbours in the bucket of the timer wheel */
	flow_index evict_next, evict_prev; /* neighbours in the class list, in order of entry */
	uint16_t wheel_bucket;		   /* bucket of the timer wheel */
	uint16_t loss_index;		   /* index + 1 of the loss pair in its pool, 0 none */
	uint16_t syn_mss[2];		   /* TCP: MSS option in each end's SYN, 0 none */
};

_Static_assert(sizeof(struct flow_cold) == 40, "the cold half of a flow is 40 bytes");

#define FLOW_COLD_CLASS_MASK 3ull
#define FLOW_COLD_TIMESTAMPS_SHIFT 2
#define FLOW_COLD_WSCALE_SHIFT 4
#define FLOW_COLD_SERIAL_SHIFT 12

/* Serial of the flow: its connection ids are 2 * serial - 1 and 2 * serial (see also
 * flow_table_set_id_stride()).  0 marks a free index. */
static inline uint64_t
flow_cold_serial(const struct flow_cold *cold)
{
	return cold->packed >> FLOW_COLD_SERIAL_SHIFT;
}

static inline enum evict_class
flow_cold_class(const struct flow_cold *cold)
{
	return (enum evict_class)(cold->packed & FLOW_COLD_CLASS_MASK);
}

static inline void
flow_cold_set_class(struct flow_cold *cold, enum evict_class class)
{
	cold->packed = (cold->packed & ~FLOW_COLD_CLASS_MASK) | class;
}

/* Whether every segment carries timestamps: both ends have offered them. */
static inline bool
flow_cold_has_timestamps(const struct flow_cold *cold)
{
	return (cold->packed >> FLOW_COLD_TIMESTAMPS_SHIFT & 3) == 3;
}

/* Window shift that an end has offered, 0 if none. */
static inline uint8_t
flow_cold_wscale(const struct flow_cold *cold, unsigned endpoint)
{
	return cold->packed >> (FLOW_COLD_WSCALE_SHIFT + 4 * endpoint) & 15;
}

/* Records the options of an end's SYN.  `shift` is at most 14 (RFC 7323 section 2.3); dissect/ ensures that. */
static inline void
flow_cold_set_syn_options(struct flow_cold *cold, unsigned endpoint, uint8_t shift, bool timestamps)
{
	unsigned bit = FLOW_COLD_WSCALE_SHIFT + 4 * endpoint;

	cold->packed = (cold->packed & ~(15ull << bit)) | (uint64_t)shift << bit |
		       (uint64_t)timestamps << (FLOW_COLD_TIMESTAMPS_SHIFT + endpoint);
}

bool flow_table_expects_duplicate(const struct flow_table *table);
bool flow_table_omits_states(const struct flow_table *table);
struct flow_cold *flow_cold(struct flow_table *table, const struct flow *flow);
const struct flow_limits *flow_table_limits(const struct flow_table *table);
struct flow_counters *flow_table_counters_rw(struct flow_table *table);

/* Creates a flow in its class with its deadline armed; its endpoints are zero.  A full table evicts another flow
 * first, so this never fails. */
struct flow *flow_table_create_flow(struct flow_table *table, const struct flow_key *key, uint32_t hash,
				    enum flow_kind kind, enum evict_class class, unsigned sender, uint64_t now,
				    uint64_t deadline);

/* Removes a flow from the table.  Its memory is reused. */
void flow_table_remove_flow(struct flow_table *table, struct flow *flow);

/* Moves a flow to the end of another class's list.  No effect if it is in that class already. */
void flow_set_evict_class(struct flow_table *table, struct flow *flow, enum evict_class class);

/* Sets an exact deadline, earlier or later than the present one.  Do not call it for idle timeouts, which move with
 * every packet: keep the deadline and return a later one from the timer (see tcp_on_deadline()). */
void flow_set_deadline(struct flow_table *table, struct flow *flow, uint64_t deadline);

/* The flow of these two ends, NULL if there is none.  If its deadline is not after `now`, its timer runs first and may
 * remove it. */
struct flow *flow_table_lookup_live(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now);

/* Passes the events to the handler of the table, if there are any. */
void flow_report_events(struct flow_table *table, struct flow *flow, const struct flow_events *events);

/* The flow may have ended, or is about to be removed: calls the handler of ends. */
void flow_report_end(struct flow_table *table, struct flow *flow, bool removed);

/* State that the TCP machine keeps outside the flows (flow/tcp/tcp_pools.h); created and freed with the table. */
struct tcp_pools;

struct tcp_pools *tcp_pools_new(uint32_t flows);
void tcp_pools_free(struct tcp_pools *pools);

/* Makes the part of the send log present that this many connections use. */
void tcp_pools_populate(struct tcp_pools *pools, uint32_t flows);
size_t tcp_pools_memory_size(uint32_t flows);
struct tcp_pools *flow_table_tcp_pools(const struct flow_table *table);

/* Addresses and tags of SCTP endpoints (flow/sctp/sctp_internal.h), likewise. */
struct sctp_addr_table;

struct sctp_addr_table *sctp_addr_table_new(uint32_t flows);
void sctp_addr_table_free(struct sctp_addr_table *addr_table);
size_t sctp_addr_table_memory_size(uint32_t flows);
struct sctp_addr_table *flow_table_sctp_addrs(const struct flow_table *table);

/* Flow of a flow_table_index(), for code that stores indices. */
struct flow *flow_table_flow_at(const struct flow_table *table, flow_index index);

/* What a protocol does with its flows; flow/protocols.c has the rows. */
struct flow_protocol {
	/* Handles a flow's expired deadline.  `now` is the deadline itself, however late this runs.  Returns the next
	 * deadline, later than `now`, if the flow stays (for an idle timeout: last packet + timeout), or 0 to remove
	 * it.  The caller reports the events before the removal. */
	uint64_t (*on_deadline)(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

	/* Called before a flow is evicted or cleared: adds the events that are due and frees what belongs to the
	 * flow. */
	void (*on_evict)(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

	/* Counts what was not captured of a flow, when it is removed and at the end of the input: so packets cost
	 * nothing. */
	void (*count_uncaptured)(struct flow_counters *counters, const struct flow *flow);
};

uint64_t tcp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
uint64_t udp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
uint64_t sctp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void tcp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void udp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);
void sctp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events);

/* Counts a datagram of the stream. */
static inline void
udp_count_datagram(struct flow *flow, unsigned sender, uint32_t bytes, uint64_t now)
{
	flow->udp[sender].bytes += bytes;
	flow->udp[sender].datagrams++;
	if (now > flow->last_seen)
		flow->last_seen = now;
}

/* `now` + `span`, saturating: time stamps in a file are arbitrary. */
static inline uint64_t
deadline_add(uint64_t now, uint64_t span)
{
	return span < UINT64_MAX - now ? now + span : UINT64_MAX;
}

static inline struct flow_event *
flow_events_add(struct flow_events *events, enum flow_event_kind kind, unsigned endpoint, uint64_t ts)
{
	unsigned index = events->count < FLOW_EVENTS_MAX - 1 ? events->count++ : FLOW_EVENTS_MAX - 1;
	struct flow_event *e = &events->event[index];

	*e = (struct flow_event){.kind = kind, .endpoint = (uint8_t)endpoint, .ts = ts};
	return e;
}

#endif
