/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatch on the IP protocol number; UDP, RFC 768. */
#include "dissect/header_fields.h"
#include "dissect/layers.h"

/* --- UDP, RFC 768. --- */

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

static void
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

/* --- Dispatch on the IP protocol number. --- */

/* IPv4 has no extension headers but may have an authentication header (RFC 4302), whose payload is not encrypted.  The
 * IP layer keeps protocol 51, as in its header.  Sets `*protocol` to the one after the authentication
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
