/* SPDX-License-Identifier: BSD-2-Clause */
/* One packet as an association sees it: what sctp.c and sctp_step.c share. */
#ifndef NETOBS_FLOW_SCTP_SCTP_PACKET_H
#define NETOBS_FLOW_SCTP_SCTP_PACKET_H

#include "flow/sctp/sctp.h"
#include "flow/sctp/sctp_addr_table.h"
#include "flow/sctp/sctp_machine.h"

/* What must be known of the whole bundle before its chunks are judged one by one. */
struct sctp_look {
	enum anomaly odd;    /* why the packet moves nothing, whatever the association */
	uint8_t first;	     /* type of its first chunk */
	unsigned chunks;     /* that hold */
	bool init;	     /* it is an INIT */
	bool cookie_echo;    /* one of its chunks is */
	bool reflected;	     /* ABORT or SHUTDOWN COMPLETE with the T bit: the tag is the sender's own */
	uint32_t new_tag;    /* what its INIT or INIT ACK chooses, 0 without or cut off */
};

struct sctp_look sctp_look_at(const struct packet *packet);

/* Whether the packet's verification tag is right (RFC 9260 section 8.5), as far as the tags are known. */
bool sctp_tag_fits(const struct flow *flow, unsigned sender, const struct packet *packet, const struct sctp_look *look);

/* Applies an input to an endpoint's state; changes are told. */
void sctp_input(struct flow *flow, unsigned end, enum sctp_input input, uint64_t now, struct flow_events *events);

/* No association is left: neither end has one that is known of, and one is known to have none. */
bool sctp_is_over(const struct flow *flow);

/* Where the flow belongs by its states, and how long it may be silent there. */
enum flow_class sctp_class(const struct flow *flow);
uint64_t sctp_patience(const struct flow_table *table, const struct flow *flow);

#endif
