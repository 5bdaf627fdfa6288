/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMPv6: RFC 4443; neighbour discovery, RFC 4861; extended echo, RFC 8335. */
#include "dissect/layers.h"

enum {
	ICMPV6_PACKET_TOO_BIG = 2,
	ICMPV6_PARAMETER_PROBLEM = 4,
	ICMPV6_FIRST_INFORMATION = 128, /* RFC 4443 section 2.1: smaller types are errors */
	ICMPV6_ECHO = 128,
	ICMPV6_ECHO_REPLY = 129,
	ICMPV6_NEIGHBOUR_SOLICITATION = 135,
	ICMPV6_NEIGHBOUR_ADVERTISEMENT = 136,
	ICMPV6_REDIRECT = 137,
	ICMPV6_EXTENDED_ECHO = 160,
	ICMPV6_EXTENDED_ECHO_REPLY = 161,
};

/* Target address, behind the first 8 bytes.  In a redirect it is the better next hop, so it is also stored as the
 * gateway. */
static void
icmpv6_take_target(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct icmp_layer *icmp = &packet->icmp;
	struct slice target;

	if (!cursor_take(&c, sizeof icmp->target, &target)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_ICMP_INCOMPLETE);
		return;
	}
	icmp->has_target = true;
	slice_copy(target, 0, icmp->target, sizeof icmp->target);
	if (icmp->type == ICMPV6_REDIRECT) {
		icmp->has_gateway = true;
		slice_copy(target, 0, icmp->gateway, sizeof icmp->gateway);
	}
}

void
dissect_icmpv6(struct packet *packet)
{
	struct icmp_layer *icmp = &packet->icmp;
	struct slice header;

	if (!icmp_take_header(packet, &header))
		return;
	switch (icmp->type) {
	case ICMPV6_PACKET_TOO_BIG:
		icmp->mtu = slice_u32(header, 4);
		break;
	case ICMPV6_PARAMETER_PROBLEM:
		icmp->pointer = slice_u32(header, 4);
		break;
	case ICMPV6_ECHO:
	case ICMPV6_ECHO_REPLY:
		icmp->echo_id = slice_u16(header, 4);
		icmp->echo_seq = slice_u16(header, 6);
		break;
	case ICMPV6_EXTENDED_ECHO:
	case ICMPV6_EXTENDED_ECHO_REPLY:
		icmp->echo_id = slice_u16(header, 4);
		icmp->echo_seq = slice_u8(header, 6);
		break;
	case ICMPV6_NEIGHBOUR_SOLICITATION:
	case ICMPV6_NEIGHBOUR_ADVERTISEMENT:
	case ICMPV6_REDIRECT:
		icmpv6_take_target(packet);
		break;
	default:
		break;
	}
	icmp->error = icmp->type < ICMPV6_FIRST_INFORMATION;
	if (icmp->error)
		dissect_icmp_quote(packet);
}
