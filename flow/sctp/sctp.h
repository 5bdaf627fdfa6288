/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SCTP associations (RFC 9260): one state machine per endpoint, driven by the captured packets.
 *
 * Each packet is passed to both endpoints: sctp_packet_sent() for the one with the source address,
 * sctp_packet_received() for the other.  Each call changes only its own endpoint.  The chunks of a bundle are processed
 * one by one, in order.
 *
 * A packet changes state only if it carries the verification tag of its association (section 8.5; for an endpoint in
 * mid-stream the first tag captured is taken as its tag), if its chunks are valid, and if no INIT, INIT ACK or SHUTDOWN
 * COMPLETE is bundled with other chunks.  An INIT does not prove its origin: within an association it takes effect only
 * when a COOKIE ECHO confirms it (a restart, section 5.2.4).  Three consecutive packets with the same wrong tag mean
 * that the capture missed the beginning of another association, which is then picked up.
 *
 * Multi-homing: an endpoint's addresses are those in its INIT or INIT ACK, and the source addresses of its packets.  A
 * packet on a path other than the flow's key is found by ports and verification tag, if the association knows one of
 * its addresses or if the addresses of the association are unknown.  At most 8 addresses per endpoint are kept.  If
 * all address records are in use, each path is a flow of its own, and the end of such a flow is reported only if a
 * packet proves it.  Two halves of an association that were picked up on two paths, one for each direction, remain two
 * flows.
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
	uint64_t addr_entries;	    /* endpoints that have an address record now */
	uint64_t addr_table_full;   /* endpoints without a record because all were in use: their packets on other paths
				     * are flows of their own */
	uint64_t addresses_dropped; /* addresses beyond an endpoint's 8th */
	uint64_t other_paths;	    /* packets found by tag, on another path */
	uint64_t tag_mismatches;    /* packets with a wrong verification tag */
	uint64_t illegal_bundles;   /* packets with a chunk that must be alone */
	uint64_t restarts;	    /* associations restarted by an endpoint */
};

/* Endpoint `endpoint` of `flow` has sent this packet.  Events are added to `*events` in order. */
void sctp_packet_sent(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		      uint64_t now, struct flow_events *events);

/* Endpoint `endpoint` of `flow` has received this packet. */
void sctp_packet_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
			  uint64_t now, struct flow_events *events);

/* Whether the association is over: at least one endpoint is closed, and the other is closed or unknown. */
static inline bool
sctp_association_is_closed(const struct flow *flow)
{
	enum sctp_state a = (enum sctp_state)flow->sctp[0].state, b = (enum sctp_state)flow->sctp[1].state;

	return (a == SCTP_STATE_CLOSED && (b == SCTP_STATE_CLOSED || b == SCTP_STATE_NONE)) ||
	       (b == SCTP_STATE_CLOSED && a == SCTP_STATE_NONE);
}

/* Portable name of a state, such as "state-established"; "<unknown>" for SCTP_STATE_NONE. */
const char *sctp_state_name(enum sctp_state state);

/* Copies an endpoint's addresses, the one in the flow's key first.  Returns their number, at least 1. */
unsigned sctp_get_addresses(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
			    struct sctp_address addresses[SCTP_ADDRESSES_MAX]);

const struct sctp_counters *sctp_counters(const struct flow_table *table);

#endif
