/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the segments that an endpoint must ignore; for the files of the TCP machine. */
#ifndef NETOBS_FLOW_TCP_TCP_CHECK_H
#define NETOBS_FLOW_TCP_TCP_CHECK_H

#include "flow/tcp/tcp_internal.h"

/* Numbers of two segments that differ by no more belong to one connection, bytes. */
#define TCP_RESYNC_BYTES (1u << 20)

/* A segment on its way from `sender` to `ep`, endpoint `endpoint` of the flow. */
struct tcp_arrival {
	struct flow_table *table;
	struct flow *flow;
	const struct tcp_endpoint *ep, *sender;
	const struct tcp_layer *header;
	uint32_t payload_len;
	unsigned endpoint;
};

/* Whether enough of the endpoint was captured to know what it accepts. */
bool tcp_acceptance_is_known(const struct tcp_endpoint *e);

/* TCP_PAWS_WINDOW of Linux: a timestamp may be this much older. */
#define TCP_PAWS_WINDOW 1

/* Whether the timestamp of the header is older than what the endpoint has accepted (PAWS, RFC 7323 section 5). */
static inline bool
tcp_timestamp_is_old(const struct tcp_endpoint *e, const struct tcp_layer *t)
{
	return (t->options & TCP_OPTION_TIMESTAMPS) != 0 && e->ts_recent != 0 &&
	       (int32_t)(e->ts_recent - t->tsval) > TCP_PAWS_WINDOW;
}

/* Whether `seq` is what endpoint number `endpoint` last acknowledged beyond what its peer was captured sending. */
bool tcp_seq_is_unsent_ack(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t seq);

/* Whether the latest segment of the endpoint acknowledges bytes beyond what its peer was captured sending before it.
 * Then `ack` is the number: what the peer sends up to there may be captured late.  A lower ACK denies it. */
bool tcp_ack_is_early(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t *ack);

/* Whether the peer has by now sent exactly up to that number, so that its segments were captured after the ACK of them;
 * and one end has sent a FIN for which this counts. */
bool tcp_ack_was_early(struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Stores the numbers of a segment that `ctx->ep` ignores. */
void tcp_store_ignored(struct tcp_segment_ctx *ctx);

/* Whether the endpoint itself can have sent the RST in `ctx`, as far as its numbers show. */
bool tcp_rst_is_genuine(const struct tcp_segment_ctx *ctx);

/* Whether the endpoint's sequence numbers are known and it has a connection. */
static inline bool
tcp_endpoint_has_numbers(const struct tcp_endpoint *e)
{
	return (e->flags & TCP_EP_SEQ_KNOWN) != 0 && e->state != TCP_STATE_NONE && e->state != TCP_STATE_CLOSED;
}

/* A passive endpoint of which nothing but the SYN was acknowledged: if it goes on after a RST it is another socket,
 * made of the ACK of a SYN cookie that its peer repeats. */
static inline bool
tcp_is_new_socket(const struct tcp_endpoint *e)
{
	return (e->flags & (TCP_EP_ISS_KNOWN | TCP_EP_ACTIVE_OPEN | TCP_EP_FIN_SENT)) == TCP_EP_ISS_KNOWN &&
	       e->una == e->iss + 1;
}

/* The state from which a closed endpoint that was not reset continues. */
static inline void
tcp_reopen(struct tcp_endpoint *e)
{
	e->state = (e->flags & TCP_EP_FIN_SENT) == 0 ? TCP_STATE_ESTABLISHED :
		   e->una != e->nxt		      ? TCP_STATE_FIN_WAIT_1 :
							TCP_STATE_FIN_WAIT_2;
}

/* Whether an endpoint of a connection that was reset acknowledges what its peer has sent since: they have a connection.
 * Segments on their way when the RST was captured do not show it. */
bool tcp_goes_on_after_reset(struct flow_table *table, const struct flow *flow, unsigned sender,
			     const struct tcp_layer *t, uint64_t now);

/* The reason why the receiver ignores the segment, ANOMALY_NONE if it does not.  `*resync`: its numbers are impossible,
 * but the last segment that was ignored confirms them: the capture has lost a window or more, and the numbers of both
 * endpoints are taken anew. */
enum anomaly tcp_check_arrival(const struct tcp_arrival *a, bool *resync);

/* Whether the segment is one that the endpoint `e` expects: tcp_check_arrival() would return ANOMALY_NONE, without
 * resync. */
static inline bool
tcp_arrival_is_expected(const struct tcp_endpoint *e, const struct tcp_layer *t)
{
	if ((t->flags & (TCP_SYN | TCP_RST | TCP_ACK)) == TCP_ACK) {
		return (t->seq - e->last_ack_sent <= e->wnd || t->seq == e->rcv_nxt) &&
		       t->ack - e->una <= e->nxt - e->una && e->segments_sent != 0 &&
		       (e->state != TCP_STATE_SYN_RECEIVED || t->ack != e->una) && e->state != TCP_STATE_SYN_SENT &&
		       !tcp_timestamp_is_old(e, t);
	}
	return e->state == TCP_STATE_NONE ||
	       ((t->flags & TCP_ACK) != 0 && e->state == TCP_STATE_SYN_SENT && t->ack == e->nxt);
}

#endif
