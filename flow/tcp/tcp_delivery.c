/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte stream offsets: what an application has sent, and what was delivered to it. */
#include "flow/tcp/tcp_internal.h"

/* No application has sent more at once than this if the bytes were not captured. */
#define TCP_UNCAPTURED_SEND_MAX (1u << 24)

uint64_t
tcp_stream_offset(const struct flow *flow, unsigned sender, uint32_t seq)
{
	const struct tcp_endpoint *e = &flow->tcp[sender];
	int64_t offset = tcp_stream_position(e, seq);

	/* A mid-stream endpoint may repeat bytes before the first one captured. */
	return offset < 0 ? 0 : (uint64_t)offset;
}

/* The sequence number after the last byte of the stream that the endpoint has sent. */
static uint32_t
tcp_sent_end(const struct tcp_endpoint *e)
{
	return e->nxt - ((e->flags & TCP_EP_FIN_SENT) != 0);
}

struct tcp_delivery
tcp_sent_since(const struct flow *flow, unsigned endpoint, const struct tcp_endpoint *before, uint32_t seq)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint];
	uint32_t from = tcp_sent_end(before), to = tcp_sent_end(e);

	if ((e->flags & TCP_EP_SEQ_KNOWN) == 0)
		return (struct tcp_delivery){0, 0};
	if ((before->flags & TCP_EP_SEQ_KNOWN) == 0 || before->iss != e->iss)
		from = (e->flags & TCP_EP_ISS_KNOWN) != 0 ? e->iss + 1 : seq;
	if (tcp_seq_before(from, seq) && seq - from > TCP_UNCAPTURED_SEND_MAX)
		from = seq;
	if (!tcp_seq_before(from, to))
		return (struct tcp_delivery){0, 0};
	return (struct tcp_delivery){.bytes = to - from, .offset = tcp_stream_offset(flow, endpoint, from)};
}

/* Whether an endpoint that was reset goes on with its numbers. */
static bool
tcp_is_reopened(const struct tcp_endpoint *before, const struct tcp_endpoint *e)
{
	return (before->flags & TCP_EP_SEQ_KNOWN) != 0 && before->iss == e->iss && before->una != before->iss &&
	       tcp_state_is_synchronized((enum tcp_state)e->state);
}

struct tcp_delivery
tcp_delivery_since(struct flow *flow, unsigned endpoint, const struct tcp_endpoint *before, uint32_t segment)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];
	bool fin = (peer->flags & TCP_EP_FIN_SENT) != 0 && e->rcv_nxt == peer->nxt;
	uint32_t to = e->rcv_nxt - fin, from = before->rcv_nxt - (flow->unreported >> endpoint & 1);

	if (before->state == TCP_STATE_NONE || (before->state == TCP_STATE_CLOSED && !tcp_is_reopened(before, e)) ||
	    before->state == TCP_STATE_SYN_SENT) {
		/* It had no position in the stream yet: count from the beginning, or from this segment on. */
		if (e->state == TCP_STATE_NONE || e->state == TCP_STATE_SYN_SENT || e->state == TCP_STATE_CLOSED)
			return (struct tcp_delivery){0, 0};
		from = (peer->flags & TCP_EP_ISS_KNOWN) != 0 ? peer->iss + 1 : to - segment;
	}
	if (tcp_ack_is_deferred(e))
		return (struct tcp_delivery){0, 0};
	if (tcp_ack_is_deferred(before))
		from = before->last_ack_sent;
	if (!tcp_seq_before(from, to) || before->resyncs != e->resyncs)
		return (struct tcp_delivery){0, 0};
	flow->unreported = flow->unreported & ~(1u << endpoint) & 3u;
	if (peer->segments_sent == 0) {
		flow->unreported = (flow->unreported | 1u << endpoint) & 3u;
		to--;
	}
	return (struct tcp_delivery){.bytes = to - from, .offset = tcp_stream_offset(flow, 1 - endpoint, from)};
}
