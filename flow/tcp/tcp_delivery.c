/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte stream offsets: what an application has sent, and what was delivered to it. */
#include "flow/tcp/tcp.h"

uint64_t
tcp_stream_offset(const struct flow *flow, unsigned sender, uint32_t seq)
{
	const struct tcp_endpoint *e = &flow->tcp[sender];
	uint64_t sent = e->bytes;
	uint32_t offset;

	if ((e->flags & TCP_EP_ISS_KNOWN) == 0) {
		/* Mid-stream: count the bytes captured. */
		uint32_t ahead = e->nxt - ((e->flags & TCP_EP_FIN_SENT) != 0) - seq;

		return ahead <= sent ? sent - ahead : 0;
	}
	/* Expands the 32-bit sequence number to the 64-bit offset nearest to what was sent so far. */
	offset = seq - (e->iss + 1);
	if (sent < 0x80000000u)
		return offset;
	return sent + (uint64_t)(int64_t)(int32_t)(offset - (uint32_t)sent);
}

struct tcp_delivery
tcp_delivery_since(const struct flow *flow, unsigned endpoint, const struct tcp_endpoint *before, uint32_t segment)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];
	bool fin = (peer->flags & TCP_EP_FIN_SENT) != 0 && e->rcv_nxt == peer->nxt;
	uint32_t to = e->rcv_nxt - fin, from = before->rcv_nxt;

	if (before->state == TCP_STATE_NONE || before->state == TCP_STATE_CLOSED ||
	    before->state == TCP_STATE_SYN_SENT) {
		/* It had no position in the stream yet: count from the beginning, or from this segment on. */
		if (e->state == TCP_STATE_NONE || e->state == TCP_STATE_SYN_SENT || e->state == TCP_STATE_CLOSED)
			return (struct tcp_delivery){0, 0};
		from = (peer->flags & TCP_EP_ISS_KNOWN) != 0 ? peer->iss + 1 : to - segment;
	}
	if (!tcp_seq_before(from, to))
		return (struct tcp_delivery){0, 0};
	return (struct tcp_delivery){.bytes = to - from, .offset = tcp_stream_offset(flow, 1 - endpoint, from)};
}
