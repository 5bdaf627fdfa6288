/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments in order with which a connection opens and closes. */
#ifndef NETOBS_FLOW_TCP_TCP_TRANSITION_H
#define NETOBS_FLOW_TCP_TCP_TRANSITION_H

#include "flow/flow.h"

/* A segment with ACK, and neither SYN nor RST nor any option but timestamps. */
struct tcp_transition_segment {
	uint32_t seq, ack;
	uint32_t len;	       /* payload */
	uint32_t tsval, tsecr; /* 0 without timestamps */
	bool timestamps;
	bool fin;
	uint16_t stamp;	 /* send stamp */
	uint16_t window; /* as on the wire, unscaled */
};

/* Applies a segment in order that changes the state of a connection: the ACK that completes the handshake, a FIN, the
 * ACK of a FIN, or both in one segment.  The flow is then as after tcp_segment_sent() and
 * tcp_segment_received(); no event is reported.  No record of the flow may be kept, and events must be omitted
 * (flow_table_omit_states()).  False, with nothing changed, for all other segments. */
bool tcp_apply_transition(struct flow_table *table, struct flow *flow, unsigned sender,
			  const struct tcp_transition_segment *s, uint64_t now);

/* Whether a segment may be one that tcp_apply_transition() applies, by the states of its endpoints. */
bool tcp_transition_is_possible(const struct flow *flow, unsigned sender, bool fin);

#endif
