/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP machine (RFC 9293), run once per endpoint from the segments that the capture saw.
 *
 * A segment is told to each of its two endpoints: tcp_sent() to the one whose address is its source, tcp_received()
 * to the other.  Each changes only its own endpoint.  What an endpoint's own segments prove (its ACK numbers, its
 * FIN) outweighs what it ought to have received: a frame in the capture may still have been lost on the way.
 */
#ifndef NETOBS_FLOW_TCP_TCP_H
#define NETOBS_FLOW_TCP_TCP_H

#include "flow/event.h"
#include "flow/flow.h"

/* Endpoint `end` of `flow` has sent this segment.  Events are added to `*events` in order. */
void tcp_sent(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	      struct flow_events *events);

/* Endpoint `end` of `flow` has received this segment. */
void tcp_received(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet,
		  uint64_t now, struct flow_events *events);

/* The capture has ended: a FIN or RST that still waits for its receiver to show it (flow_limits.tcp_reply_ns) takes
 * effect now.  What changes is told through the table's report. */
void tcp_flush(struct flow_table *table);

/* The portable name of a state: "state-established" and so on; "<unknown>" for TCP_STATE_NONE. */
const char *tcp_state_name(enum tcp_state state);

/* Retransmission timeout that RFC 6298 computes from the round trips seen, microseconds; its initial 1 s before any. */
uint32_t tcp_rto_us(const struct tcp_end *end);

/* What is not in struct tcp_end and only a probe wants to know.  Bytes and absolute sequence numbers; 0 unknown. */
struct tcp_estimates {
	uint32_t cwnd;	    /* congestion window: an estimate, the largest recent flight */
	uint32_t ssthresh;  /* slow start threshold: an estimate, half the flight at the last loss */
	uint32_t sack_fack; /* highest sequence number that the peer has SACKed */
	uint32_t sack_snxt; /* next sequence number to be sent again in a SACK recovery */
	uint32_t mss;	    /* largest segment this endpoint may send: the peer's MSS option, less options sent */
};

void tcp_estimate(const struct flow_table *table, const struct flow *flow, unsigned end,
		  struct tcp_estimates *estimates);

/* Where sequence number `seq` of endpoint `sender` lies in its stream: 0 is the first byte behind the SYN, or the first
 * that was seen of a connection picked up in mid-stream. */
uint64_t tcp_stream_offset(const struct flow *flow, unsigned sender, uint32_t seq);

struct tcp_delivery {
	uint32_t bytes;	 /* 0: nothing new */
	uint64_t offset; /* of the first of them in the peer's stream */
};

/* What has become deliverable to the application of endpoint `end` since it was as in `before`: stream bytes in order,
 * each once.  `segment` is the payload of the segment that changed it, received or sent: an endpoint's own ACK proves
 * bytes that the capture showed out of order. */
struct tcp_delivery tcp_delivered(const struct flow *flow, unsigned end, const struct tcp_end *before,
				  uint32_t segment);

/* Sequence numbers compare modulo 2^32 (RFC 9293 section 3.4). */
static inline bool
seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
