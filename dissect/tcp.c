/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP, RFC 9293. */
#include "dissect/layers.h"

enum { TCP_FIXED = 20, TCP_RESERVED_BITS = 0x0e }; /* the fourth bit is AccECN's (RFC 9768) */

/* Combinations that no implementation sends and scanners do: none, SYN with FIN or RST, FIN with RST, and FIN, PSH or
 * URG without ACK. */
static bool
impossible_flags(uint8_t flags)
{
	uint8_t control = flags & (TCP_SYN | TCP_FIN | TCP_RST);

	if ((control & (control - 1)) != 0)
		return true;
	return (flags & (TCP_ACK | TCP_SYN | TCP_RST)) == 0;
}

static void
judge(struct packet *packet, struct view fixed)
{
	const struct tcp_layer *tcp = &packet->tcp;

	if (__builtin_expect(impossible_flags(tcp->flags), 0))
		packet_note(packet, ANOMALY_TCP_FLAGS);
	if (__builtin_expect((view_u8(fixed, 12) & TCP_RESERVED_BITS) != 0, 0))
		packet_note(packet, ANOMALY_TCP_RESERVED);
	if (__builtin_expect(tcp->sport == 0 || tcp->dport == 0, 0))
		packet_note(packet, ANOMALY_TCP_PORT_ZERO);
}

static void
record(struct tcp_layer *tcp, struct view fixed)
{
	tcp->header = fixed;
	tcp->sport = view_u16(fixed, 0);
	tcp->dport = view_u16(fixed, 2);
	tcp->seq = view_u32(fixed, 4);
	tcp->ack = view_u32(fixed, 8);
	tcp->offset = (uint8_t)((view_u8(fixed, 12) >> 4) * 4);
	tcp->flags = view_u8(fixed, 13);
	tcp->window = view_u16(fixed, 14);
	tcp->checksum = view_u16(fixed, 16);
	tcp->urgent = view_u16(fixed, 18);
	tcp->options = 0;
	tcp->wscale = 0;
	tcp->mss = 0;
	tcp->sacks = 0;
	tcp->tsval = tcp->tsecr = 0;
}

void
dissect_tcp(struct packet *packet)
{
	struct cursor start = packet_rest(packet), c = start;
	struct tcp_layer *tcp = &packet->tcp;
	struct view fixed, options = {NULL, 0};

	if (!packet_enter(packet))
		return;
	if (!cursor_take(&c, TCP_FIXED, &fixed)) {
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TCP_SHORT);
		return;
	}
	record(tcp, fixed);
	if (tcp->offset < TCP_FIXED || !cursor_take_partly(&c, tcp->offset - TCP_FIXED, &options)) {
		packet_note(packet, ANOMALY_TCP_HEADER_LENGTH);
		return;
	}
	packet->transport = TRANSPORT_TCP;
	packet_advance(packet, &c);
	packet->segment = c.wire;
	if (options.len > 0) {
		tcp->header = cursor_between(&start, &c);
		dissect_tcp_options(packet, options);
	}
	if (__builtin_expect(tcp->header.len < tcp->offset, 0))
		packet_note(packet, ANOMALY_TRUNCATED_OPTIONS);
	judge(packet, fixed);
}
