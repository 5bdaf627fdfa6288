/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP, RFC 768. */
#include "dissect/header_fields.h"

/* Checks the length field against the IP payload.  In a super-packet the field cannot hold the length and is ignored:
 * RFC 2675 section 4 sets it to 0; kernels write the low 16 bits. */
static bool
udp_apply_length(struct packet *packet, struct cursor *c)
{
	uint32_t length = packet->udp.length, carried = c->wire + UDP_HEADER_LEN;

	if (packet->ip.super_packet)
		return true;
	if (length < UDP_HEADER_LEN || length > carried) {
		packet_add_anomaly(packet, ANOMALY_UDP_LENGTH);
		return false;
	}
	if (length < carried)
		packet_add_anomaly(packet, ANOMALY_UDP_SURPLUS); /* RFC 9868: UDP options */
	cursor_limit(c, length - UDP_HEADER_LEN);
	return true;
}

void
dissect_udp(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, UDP_HEADER_LEN, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_UDP_SHORT);
		return;
	}
	packet->udp = (struct udp_layer){
		.header = header,
		.sport = slice_u16(header, 0),
		.dport = slice_u16(header, 2),
		.length = slice_u16(header, 4),
		.checksum = slice_u16(header, 6),
	};
	if (!udp_apply_length(packet, &c))
		return;
	packet->transport = TRANSPORT_UDP;
	packet_advance(packet, &c);
	packet->payload_wire = c.wire;
	if (packet->udp.dport == 0)
		packet_add_anomaly(packet, ANOMALY_UDP_PORT_ZERO);
	dissect_udp_tunnel(packet);
}
