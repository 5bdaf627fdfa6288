/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP, RFC 9293. */
#include "dissect/header_fields.h"

enum { TCP_RESERVED_BITS = 0x0e }; /* the fourth bit is AccECN's (RFC 9768) */

static void
tcp_validate(struct packet *packet, struct slice fixed)
{
	const struct tcp_layer *tcp = &packet->tcp;

	if (__builtin_expect(tcp_flags_are_impossible(tcp->flags), 0))
		packet_add_anomaly(packet, ANOMALY_TCP_FLAGS);
	if (__builtin_expect((slice_u8(fixed, 12) & TCP_RESERVED_BITS) != 0, 0))
		packet_add_anomaly(packet, ANOMALY_TCP_RESERVED);
	if (__builtin_expect(tcp->sport == 0 || tcp->dport == 0, 0))
		packet_add_anomaly(packet, ANOMALY_TCP_PORT_ZERO);
}

void
dissect_tcp_header(struct packet *packet, struct slice fixed, struct slice options)
{
	struct tcp_layer *tcp = &packet->tcp;

	tcp_record(tcp, fixed);
	tcp->header.len += options.len;
	if (options.len > 0)
		dissect_tcp_options(packet, options);
	if (__builtin_expect(tcp->header.len < tcp->header_len, 0))
		packet_add_anomaly(packet, ANOMALY_TRUNCATED_OPTIONS);
	tcp_validate(packet, fixed);
}

void
dissect_tcp(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice fixed, options = {NULL, 0};
	uint32_t length;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, TCP_HEADER_MIN, &fixed)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TCP_SHORT);
		return;
	}
	length = slice_u8(fixed, 12) / 16u * 4;
	if (length < TCP_HEADER_MIN || !cursor_take_captured(&c, length - TCP_HEADER_MIN, &options)) {
		tcp_record(&packet->tcp, fixed);
		packet_add_anomaly(packet, ANOMALY_TCP_HEADER_LENGTH);
		return;
	}
	packet->transport = TRANSPORT_TCP;
	packet_advance(packet, &c);
	packet->payload_wire = c.wire;
	dissect_tcp_header(packet, fixed, options);
}
