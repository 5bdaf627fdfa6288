/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP, RFC 768. */
#include "dissect/header_fields.h"

/* Checks the length field against the IP payload.  In a super-packet the field cannot hold the length and is ignored:
 * RFC 2675 section 4 sets it to 0; kernels write the low 16 bits. */
static bool
judge_length(struct packet *packet, struct cursor *c)
{
	uint32_t length = packet->udp.length, carried = c->wire + UDP_HEADER;

	if (packet->ip.super)
		return true;
	if (length < UDP_HEADER || length > carried) {
		packet_note(packet, ANOMALY_UDP_LENGTH);
		return false;
	}
	if (length < carried)
		packet_note(packet, ANOMALY_UDP_SURPLUS); /* RFC 9868: UDP options */
	cursor_limit(c, length - UDP_HEADER);
	return true;
}

void
dissect_udp(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct view header;

	if (!packet_enter(packet))
		return;
	if (!cursor_take(&c, UDP_HEADER, &header)) {
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_UDP_SHORT);
		return;
	}
	packet->udp = (struct udp_layer){
		.header = header,
		.sport = view_u16(header, 0),
		.dport = view_u16(header, 2),
		.length = view_u16(header, 4),
		.checksum = view_u16(header, 6),
	};
	if (!judge_length(packet, &c))
		return;
	packet->transport = TRANSPORT_UDP;
	packet_advance(packet, &c);
	packet->segment = c.wire;
	if (packet->udp.dport == 0)
		packet_note(packet, ANOMALY_UDP_PORT_ZERO);
	dissect_udp_tunnel(packet);
}
