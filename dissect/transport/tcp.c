/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP, RFC 9293. */
#include "dissect/header_fields.h"

enum { TCP_RESERVED_BITS = 0x0e }; /* the fourth bit is AccECN's (RFC 9768) */

static void
judge(struct packet *packet, struct view fixed)
{
	const struct tcp_layer *tcp = &packet->tcp;

	if (__builtin_expect(tcp_impossible_flags(tcp->flags), 0))
		packet_note(packet, ANOMALY_TCP_FLAGS);
	if (__builtin_expect((view_u8(fixed, 12) & TCP_RESERVED_BITS) != 0, 0))
		packet_note(packet, ANOMALY_TCP_RESERVED);
	if (__builtin_expect(tcp->sport == 0 || tcp->dport == 0, 0))
		packet_note(packet, ANOMALY_TCP_PORT_ZERO);
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
	tcp_record(tcp, fixed);
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
