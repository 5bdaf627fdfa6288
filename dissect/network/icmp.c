/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP for IPv4: RFC 792, 950, 1191, 1256, 8335. */
#include "dissect/layers.h"

enum { ICMP_HEADER = 8, ICMP_SMALLEST = 4 };
enum {
	ICMP_ECHO_REPLY = 0,
	ICMP_UNREACHABLE = 3,
	ICMP_SOURCE_QUENCH = 4,
	ICMP_REDIRECT = 5,
	ICMP_ECHO = 8,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETER_PROBLEM = 12,
	ICMP_TIMESTAMP = 13,
	ICMP_MASK_REPLY = 18,
	ICMP_EXTENDED_ECHO = 42,
	ICMP_EXTENDED_ECHO_REPLY = 43,
};
enum { CODE_FRAGMENTATION_NEEDED = 4 };

/* The part common to both versions: type, code, checksum, and four bytes whose meaning depends on the type. */
bool
icmp_take_header(struct packet *packet, struct slice *header)
{
	struct cursor c = packet_cursor(packet);
	bool whole = c.captured >= ICMP_HEADER;

	if (!packet_enter_layer(packet))
		return false;
	if (!cursor_take(&c, whole ? ICMP_HEADER : ICMP_SMALLEST, header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_ICMP_SHORT);
		return false;
	}
	if (!whole)
		packet_add_anomaly(packet, packet->payload.wire < ICMP_HEADER ? ANOMALY_ICMP_INCOMPLETE
								       : ANOMALY_TRUNCATED_TRANSPORT);
	packet->icmp = (struct icmp_layer){
		.header = *header,
		.type = slice_u8(*header, 0),
		.code = slice_u8(*header, 1),
		.checksum = slice_u16(*header, 2),
	};
	packet->transport = packet->network == NETWORK_IPV4 ? TRANSPORT_ICMP : TRANSPORT_ICMPV6;
	packet_advance(packet, &c);
	packet->payload_wire = c.wire;
	return whole;
}

void
dissect_icmp(struct packet *packet)
{
	struct icmp_layer *icmp = &packet->icmp;
	struct slice header;

	if (!icmp_take_header(packet, &header))
		return;
	switch (icmp->type) {
	case ICMP_UNREACHABLE:
		if (icmp->code == CODE_FRAGMENTATION_NEEDED)
			icmp->mtu = slice_u16(header, 6); /* RFC 1191 section 4 */
		break;
	case ICMP_REDIRECT:
		icmp->has_gateway = true;
		slice_copy(header, 4, icmp->gateway, 4);
		break;
	case ICMP_PARAMETER_PROBLEM:
		icmp->pointer = slice_u8(header, 4);
		break;
	case ICMP_EXTENDED_ECHO: /* RFC 8335: the sequence number is one byte wide */
	case ICMP_EXTENDED_ECHO_REPLY:
		icmp->echo_id = slice_u16(header, 4);
		icmp->echo_seq = slice_u8(header, 6);
		break;
	default:
		if (icmp->type == ICMP_ECHO_REPLY || icmp->type == ICMP_ECHO ||
		    (icmp->type >= ICMP_TIMESTAMP && icmp->type <= ICMP_MASK_REPLY)) {
			icmp->echo_id = slice_u16(header, 4);
			icmp->echo_seq = slice_u16(header, 6);
		}
		break;
	}
	icmp->error = (icmp->type >= ICMP_UNREACHABLE && icmp->type <= ICMP_REDIRECT) ||
		      icmp->type == ICMP_TIME_EXCEEDED || icmp->type == ICMP_PARAMETER_PROBLEM;
	if (icmp->error)
		dissect_icmp_quote(packet);
}
