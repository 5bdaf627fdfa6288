/* SPDX-License-Identifier: BSD-2-Clause */
/* Processing of one packet, shared by sctp_flow.c and sctp_packet.c. */
#ifndef NETOBS_FLOW_SCTP_SCTP_PACKET_H
#define NETOBS_FLOW_SCTP_SCTP_PACKET_H

#include "flow/sctp/sctp.h"
#include "flow/sctp/sctp_addr_table.h"
#include "flow/sctp/sctp_machine.h"

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

/* Whether the packet's verification tag is right (RFC 9260 section 8.5); an unknown tag matches. */
bool sctp_tag_is_valid(const struct flow *flow, unsigned sender, const struct packet *packet,
		       const struct sctp_bundle *bundle);

/* Whether the packet carries a tag of the receiver known only from an INIT: it belongs to a restart that is not
 * confirmed yet. */
bool sctp_packet_is_of_restart(const struct sctp_endpoint *receiver, const struct packet *packet);

/* Applies an input to an endpoint's state and adds an event for each change. */
void sctp_apply_input(struct flow *flow, unsigned endpoint, enum sctp_input input, uint64_t now,
		      struct flow_events *events);

/* Whether the association is over: at least one endpoint is closed, and the other is closed or unknown. */
bool sctp_association_is_closed(const struct flow *flow);

/* Eviction class of the flow by its states, and its idle timeout. */
enum evict_class sctp_evict_class(const struct flow *flow);
uint64_t sctp_idle_timeout_ns(const struct flow_table *table, const struct flow *flow);

#endif
