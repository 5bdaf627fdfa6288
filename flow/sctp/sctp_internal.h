/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP, private to flow/sctp/: the machine, the addresses of endpoints, a packet. */
#ifndef NETOBS_FLOW_SCTP_SCTP_INTERNAL_H
#define NETOBS_FLOW_SCTP_SCTP_INTERNAL_H

#include <stdint.h>

#include "flow/endpoint.h"
#include "flow/flow_internal.h"
#include "flow/sctp/sctp.h"

/*
 * The state machine of an SCTP association (RFC 9260 section 4) as a table.  The checks on verification tags, bundling
 * and incarnations are in flow/sctp/sctp_flow.c; the machine receives the result as inputs.  An input has no effect
 * in a state where it is meaningless.
 */

enum sctp_input {
	/* What the endpoint sent. */
	SCTP_INPUT_SEND_INIT,
	SCTP_INPUT_SEND_INIT_ACK,
	SCTP_INPUT_SEND_COOKIE_ECHO,
	SCTP_INPUT_SEND_COOKIE_ACK,
	SCTP_INPUT_SEND_ESTABLISHED, /* chunks that only an established endpoint sends: DATA, SACK and the like, without
				      * a COOKIE ECHO in the packet */
	SCTP_INPUT_SEND_HEARTBEAT,   /* chunks that are also allowed in other states: HEARTBEAT and HEARTBEAT ACK */
	SCTP_INPUT_SEND_SHUTDOWN,
	SCTP_INPUT_SEND_SHUTDOWN_ACK,
	SCTP_INPUT_SEND_SHUTDOWN_COMPLETE,
	SCTP_INPUT_SEND_ABORT,
	SCTP_INPUT_SEND_REFLECTED, /* ABORT or SHUTDOWN COMPLETE with a reflected tag: the sender has no association */
	/* Received by the endpoint, with the right tag. */
	SCTP_INPUT_RECV_INIT,
	SCTP_INPUT_RECV_INIT_ACK,
	SCTP_INPUT_RECV_COOKIE_ECHO,
	SCTP_INPUT_RECV_RESTART,   /* COOKIE ECHO with both tags new: the peer restarts (section 5.2.4, action A) */
	SCTP_INPUT_RECV_COOKIE_ACK,
	SCTP_INPUT_RECV_ESTABLISHED,
	SCTP_INPUT_RECV_HEARTBEAT,
	SCTP_INPUT_RECV_SHUTDOWN,
	SCTP_INPUT_RECV_SHUTDOWN_ACK,
	SCTP_INPUT_RECV_SHUTDOWN_COMPLETE,
	SCTP_INPUT_RECV_ABORT,
	/* Other events. */
	SCTP_INPUT_TIMEOUT,    /* T1 or T2 expired: no answer to INIT, COOKIE ECHO, SHUTDOWN or SHUTDOWN ACK */
	SCTP_INPUT_SUPERSEDED, /* the endpoint started another association between the same ends, so this one was
			        * closed */
	SCTP_INPUT_COUNT
};

/* [state][input]: the next state.  While the state changes the input is applied again, so that a chunk whose
 * predecessors were not captured passes through all states of RFC 9260 up to its own. */
extern const uint8_t sctp_transitions[SCTP_STATE_COUNT][SCTP_INPUT_COUNT];

static inline enum sctp_state
sctp_machine_next(enum sctp_state state, enum sctp_input input)
{
	return (enum sctp_state)sctp_transitions[state][input];
}

/*
 * Address records of SCTP endpoints: their addresses, and the lookup of an association by ports and verification tag.
 *
 * Memory is reserved with the table and bounded: an endpoint gets a record when its tag is known, if one is free.
 * Entries with the same hash are in one bucket; a lookup gives up after a fixed number of entries, so an attacker
 * cannot make it long.
 */

/* A verification tag with its ports.  Between two ports of two hosts a tag is unique. */
struct sctp_tag_key {
	uint32_t tag;
	uint16_t port, peer_port; /* port of the endpoint that chose the tag, and of its peer */
};

/* A hash entry.  Entries 2 * h and 2 * h + 1 belong to record h: its tag and its pending tag. */
struct sctp_tag_entry {
	struct sctp_tag_key tag; /* tag 0: not in a bucket */
	uint32_t next, prev, bucket;
};

struct sctp_addrs {
	flow_index flow;
	uint32_t next; /* next free record */
	uint8_t endpoint;
	uint8_t count; /* number of addresses */
	struct sctp_address address[SCTP_ADDRESSES_MAX];
	struct sctp_tag_entry tag_entry[2];
};

struct sctp_addr_table {
	struct sctp_addrs *addrs; /* index 0 means none */
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t capacity;	 /* limit on records */
	uint32_t high_water;	 /* highest index used so far */
	uint32_t free_head;	 /* head of the free list below high_water */
	struct sctp_counters counters;
};

/* Enters an endpoint under its tags; allocates a record if it has no record. */
void sctp_addrs_index_tags(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Frees an endpoint's record. */
void sctp_addrs_release(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Adds an address to an endpoint's record.  An endpoint with a tag but without a record is flagged
 * SCTP_EP_ADDR_DROPPED. */
void sctp_addrs_add(struct flow_table *table, struct flow *flow, unsigned endpoint, const uint8_t address[16],
		    uint8_t version);

/* Whether an address belongs to an endpoint, as far as known. */
bool sctp_addrs_contain(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
			const uint8_t address[16], uint8_t version);

/* Whether every packet of the association belongs to this flow.  False if addresses were dropped because all records
 * were in use, and for a flow in mid-stream if that ever happened: the flow may be another path of an association.  The
 * end of such a flow, if no packet proves it, is not reported. */
bool sctp_paths_are_known(const struct flow_table *table, const struct flow *flow);

/* The next entry with this tag after entry `from` (0: from the start); 0 if there is none. */
uint32_t sctp_tag_find_next(const struct flow_table *table, const struct sctp_tag_key *tag, uint32_t from);

/* The record that an entry belongs to. */
static inline const struct sctp_addrs *
sctp_tag_addrs(const struct sctp_addr_table *addr_table, uint32_t entry)
{
	return &addr_table->addrs[entry / 2];
}

/* --- One packet. --- */

/* Properties of the whole bundle, needed before its chunks are processed. */
struct sctp_bundle {
	enum anomaly anomaly; /* why the packet changes no state, independent of the association */
	uint8_t first_chunk;  /* type of the first chunk */
	unsigned chunks;      /* number of valid chunks */
	bool init;	      /* the packet is an INIT */
	bool cookie_echo;     /* the packet contains a COOKIE ECHO */
	bool reflected;	      /* ABORT or SHUTDOWN COMPLETE with the T bit: the tag is the sender's own */
	uint32_t init_tag;    /* tag chosen in its INIT or INIT ACK, 0 if there is none or it was truncated */
};

struct sctp_bundle sctp_bundle_scan(const struct packet *packet);

#endif
