/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP machine (RFC 9293), run once per endpoint on the captured segments.
 *
 * Each segment is passed to both endpoints: tcp_segment_sent() for the one with the source address,
 * tcp_segment_received() for the other.  Each call changes only its own endpoint.  What an endpoint's own segments
 * prove (its ACK numbers, its FIN) takes precedence over what it should have received, because a captured frame may
 * still have been lost on its way.
 */
#ifndef NETOBS_FLOW_TCP_TCP_H
#define NETOBS_FLOW_TCP_TCP_H

#include "flow/event.h"
#include "flow/flow.h"

/* Endpoint `endpoint` of `flow` has sent this segment.  Events are added to `*events` in order. */
void tcp_segment_sent(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		      uint64_t now, struct flow_events *events);

/* Endpoint `endpoint` of `flow` has received this segment.  Returns the reason why it ignores the segment (RFC 9293,
 * 5961, 7323), ANOMALY_NONE if it does not. */
enum anomaly tcp_segment_received(struct flow_table *table, struct flow *flow, unsigned endpoint,
				  const struct packet *packet, uint64_t now, struct flow_events *events);

/* The result that tcp_segment_received() will have for endpoint `receiver`.  Call it after tcp_segment_sent(). */
enum anomaly tcp_segment_check(struct flow_table *table, struct flow *flow, unsigned receiver,
			       const struct packet *packet);

/* Whether the segment is in order and acknowledges or carries something new: then it is not a duplicate. */
bool tcp_segment_is_next(const struct flow *flow, unsigned sender, const struct packet *packet);

/* Whether the identification of a segment is that of another one among the latest of endpoint `sender`. */
enum ident_use tcp_identification_use(const struct flow_table *table, const struct flow *flow, unsigned sender,
				      const struct packet *packet);

/* Whether the latest segment of endpoint `sender` was found to be a duplicate by tcp_segment_sent(). */
static inline bool
tcp_segment_is_duplicate(const struct flow *flow, unsigned sender)
{
	return (flow->tcp[sender].slow_reasons & TCP_SLOW_DUPLICATE) != 0;
}

/* Counts a duplicate that was found before (flow/duplicates.h). */
void tcp_count_duplicate(struct flow_table *table);

/* Endpoint `endpoint` of `flow` has received an ICMP error about a segment of it.  An attempt to connect ends as in
 * Linux if the error is one that Linux passes on, and quotes a number of the attempt: EVENT_TCP_CONNECT_REFUSED and the
 * state change are added to `*events`.  In other states nothing changes. */
void tcp_icmp_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		       uint64_t now, struct flow_events *events);

/* The capture has ended at packet time `now`: every FIN, RST or ACK of a SYN,ACK that still waits for a segment of its
 * receiver (flow_limits.tcp_reply_ns) takes effect now, except an ACK that the receiver has probably dropped.  State
 * changes are reported through the table's callback. */
void tcp_flush_deferred(struct flow_table *table, uint64_t now);

/* Whether an ACK of the SYN,ACK of a passive endpoint was captured that it may drop (flow/tcp/tcp_internal.h). */
static inline bool
tcp_ack_is_deferred(const struct tcp_endpoint *e)
{
	return (e->slow_reasons & TCP_SLOW_ACK_DEFERRED) != 0 && e->state == TCP_STATE_SYN_RECEIVED;
}

/* In a synchronized state other than CLOSED. */
static inline bool
tcp_state_is_synchronized(enum tcp_state state)
{
	return state != TCP_STATE_NONE && state != TCP_STATE_CLOSED && state != TCP_STATE_LISTEN &&
	       state != TCP_STATE_SYN_SENT && state != TCP_STATE_SYN_RECEIVED;
}

/* Portable name of a state, such as "state-established"; "<unknown>" for TCP_STATE_NONE. */
const char *tcp_state_name(enum tcp_state state);

/* Name of the cause of a retransmission, such as "tail-loss-probe"; "" for RETRANSMIT_NONE. */
const char *tcp_retransmit_kind_name(enum tcp_retransmit_kind kind);

/* Retransmission timeout (RFC 6298) from the round trips measured, microseconds; 1 s before the first. */
uint32_t tcp_rto_us(const struct tcp_endpoint *endpoint);

/* Estimates that only probes need.  Bytes and absolute sequence numbers; 0 unknown. */
struct tcp_estimates {
	uint32_t cwnd;	    /* congestion window: an estimate, the largest recent flight */
	uint32_t ssthresh;  /* slow start threshold: an estimate, half the flight at the last loss */
	uint32_t sack_fack; /* highest sequence number that the peer has SACKed */
	uint32_t sack_snxt; /* next sequence number to retransmit in a SACK recovery */
	uint32_t mss;	    /* largest segment payload it may send: the peer's MSS option minus the options sent */
};

void tcp_estimate_congestion(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
			     struct tcp_estimates *estimates);

/* Payload bytes of the endpoint that were captured, each once. */
static inline uint64_t
tcp_captured_bytes(const struct tcp_endpoint *endpoint)
{
	return endpoint->segments_sent != 0 ? endpoint->bytes : 0;
}

/* Segments of endpoint `endpoint` that repeat sequence space. */
uint32_t tcp_retransmits(const struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Stream offset of sequence number `seq` of endpoint `sender`.  Offset 0 is the first byte after the SYN, or the first
 * byte captured if the connection is mid-stream. */
uint64_t tcp_stream_offset(const struct flow *flow, unsigned sender, uint32_t seq);

struct tcp_delivery {
	uint32_t bytes;	 /* 0: nothing new to deliver */
	uint64_t offset; /* stream offset of the first of these bytes */
};

/* Stream bytes that became deliverable to endpoint `endpoint` since the state `before`, in order and each byte once.
 * `segment` is the payload of the segment that caused it, sent or received: an endpoint's own ACK proves the receipt of
 * bytes that were captured out of order.  Nothing is deliverable while an ACK of the endpoint's SYN,ACK is deferred.
 * If nothing of the peer was captured, the last acknowledged byte may be its FIN: it is returned with the next one. */
struct tcp_delivery tcp_delivery_since(struct flow *flow, unsigned endpoint, const struct tcp_endpoint *before,
				       uint32_t segment);

/* Stream bytes that endpoint `endpoint` is known to have sent since the state `before`, in order and each byte once: a
 * segment with payload at `seq` also proves the bytes before it that were not captured. */
struct tcp_delivery tcp_sent_since(const struct flow *flow, unsigned endpoint, const struct tcp_endpoint *before,
				   uint32_t seq);

/* The largest window (RFC 7323 section 2.3): no sender is farther ahead. */
#define TCP_WINDOW_MAX (1u << 30)

/* Sequence numbers are compared modulo 2^32 (RFC 9293 section 3.4). */
static inline bool
tcp_seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
