/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatch on the IP protocol number. */
#include "dissect/layers.h"

/* IPv4 has no extension headers but may have an authentication header (RFC 4302), whose payload is not encrypted.  The
 * IP layer keeps protocol 51, as in its header.  Sets `*protocol` to the one behind the authentication
 * header.  False if that header is malformed or truncated. */
static bool
transport_take_ah(struct packet *packet, uint8_t *protocol)
{
	struct cursor c = packet_cursor(packet);
	struct ipv6_extension_walk walk = {.next = *protocol};
	enum anomaly why = ANOMALY_NONE;

	if (!packet_enter_layer(packet))
		return false;
	if (ipv6_extension_next(&walk, &c, &why) != EXTENSION_TAKEN) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_AH_LENGTH);
		return false;
	}
	packet_advance(packet, &c);
	packet->datagram = packet_cursor(packet);
	*protocol = walk.next;
	return true;
}

static void
dissect_ip_tunnel(struct packet *packet, uint8_t protocol)
{
	switch (protocol) {
	case PROTOCOL_IPV4: /* RFC 2003 */
		packet_set_inner(packet, packet->payload, ETHER_IPV4);
		break;
	case PROTOCOL_IPV6: /* RFC 4213, RFC 2473 */
		packet_set_inner(packet, packet->payload, ETHER_IPV6);
		break;
	case PROTOCOL_MPLS: /* RFC 4023 */
		packet_set_inner(packet, packet->payload, ETHER_MPLS);
		break;
	case PROTOCOL_GRE:
		dissect_gre(packet);
		break;
	case PROTOCOL_ETHERIP:
		dissect_etherip(packet);
		break;
	default:
		break;
	}
}

void
dissect_transport(struct packet *packet, uint8_t protocol)
{
	while (__builtin_expect(protocol == PROTOCOL_AH, 0))
		if (!transport_take_ah(packet, &protocol))
			return;
	if (protocol == PROTOCOL_TCP)
		dissect_tcp(packet);
	else if (protocol == PROTOCOL_UDP)
		dissect_udp(packet);
	else if (protocol == PROTOCOL_ICMP && packet->network == NETWORK_IPV4)
		dissect_icmp(packet);
	else if (protocol == PROTOCOL_ICMPV6 && packet->network == NETWORK_IPV6)
		dissect_icmpv6(packet);
	else if (protocol == PROTOCOL_SCTP)
		dissect_sctp(packet);
	else if (protocol == PROTOCOL_DCCP)
		dissect_dccp(packet);
	else
		dissect_ip_tunnel(packet, protocol);
}
