/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP associations (RFC 9260), one machine per endpoint, from the packets that the capture saw.
 *
 * A packet is told to both of its endpoints: sctp_sent() to the one whose address is its source, sctp_received() to the
 * other.  Each changes only its own endpoint.  The chunks of a bundle are judged one by one, in order.
 *
 * What a packet must have before it moves anything: the verification tag of its association (section 8.5; of an end
 * that was picked up in mid-stream the first tag seen is its tag), chunks that hold, and no INIT, INIT ACK or SHUTDOWN
 * COMPLETE beside other chunks.  An INIT carries no proof of where it comes from: within an association it counts
 * only once a COOKIE ECHO has proved it (a restart, section 5.2.4).  Where three packets in a row carry one and the
 * same wrong tag, the capture has missed the beginning of another association, which is then picked up.
 *
 * Multi-homing: an endpoint's addresses are those of its INIT or INIT ACK, and those that its packets come from.  A
 * packet on a path that is not the flow's key finds it by ports and verification tag, if one of its addresses is known
 * to the association or the association's addresses are not.  At most 8 addresses an endpoint.  Two halves of an
 * association that were picked up on two paths, each in one direction only, stay two flows.
 */
#ifndef NETOBS_FLOW_SCTP_SCTP_H
#define NETOBS_FLOW_SCTP_SCTP_H

#include "flow/event.h"
#include "flow/flow.h"

#define SCTP_ADDRESSES_MAX 8

struct sctp_address {
	uint8_t bytes[16]; /* network order; IPv4 in the first four bytes, the rest zero */
	uint8_t version;   /* 4 or 6 */
};

/* 64-bit, never wrap in practice. */
struct sctp_counters {
	uint64_t homes;		   /* endpoints whose addresses are kept, now */
	uint64_t homeless;	   /* endpoints for which there was no room: they are found on their first path only */
	uint64_t addresses_lost;   /* addresses beyond an endpoint's eighth */
	uint64_t other_paths;	   /* packets that found their association by their tag */
	uint64_t tags;		   /* packets with a wrong verification tag */
	uint64_t bundles;	   /* packets with a chunk that must be alone */
	uint64_t restarts;	   /* associations that a host began again */
};

/* Endpoint `end` of `flow` has sent this packet.  Events are added to `*events` in order. */
void sctp_sent(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	       struct flow_events *events);

/* Endpoint `end` of `flow` has received this packet. */
void sctp_received(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
		   struct flow_events *events);

/* The portable name of a state: "state-established" and so on; "<unknown>" for SCTP_STATE_NONE. */
const char *sctp_state_name(enum sctp_state state);

/* An endpoint's addresses, the one of the flow's key first; answers how many, at least 1. */
unsigned sctp_addresses(const struct flow_table *table, const struct flow *flow, unsigned end,
			struct sctp_address addresses[SCTP_ADDRESSES_MAX]);

const struct sctp_counters *sctp_counters(const struct flow_table *table);

#endif
