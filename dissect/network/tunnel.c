/* SPDX-License-Identifier: BSD-2-Clause */
/* Tunnels over UDP and EtherIP, and the dissection of what a tunnel carries. */
#include "dissect/layers.h"

enum { VXLAN_HEADER = 8, VXLAN_HAS_NETWORK = 0x08 };
enum { GENEVE_FIXED = 8, GENEVE_OPTION_UNIT = 4 };
enum { ETHERIP_HEADER = 2, ETHERIP_VERSION = 3 };

/* Records the tunnel's payload; `type` is an EtherType, ETHER_BRIDGED for Ethernet. */
void
packet_set_inner(struct packet *packet, struct cursor inside, uint16_t type)
{
	packet->payload = inside;
	packet->inner = type == ETHER_BRIDGED ? INNER_ETHERNET : INNER_IP;
	packet->inner_type = type == ETHER_BRIDGED ? 0 : type;
	packet->inner_id = 0;
}

/* RFC 7348. */
static void
dissect_vxlan(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, VXLAN_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TUNNEL, ANOMALY_VXLAN_SHORT);
		return;
	}
	if ((slice_u8(header, 0) & VXLAN_HAS_NETWORK) == 0) {
		packet_add_anomaly(packet, ANOMALY_VXLAN_FLAGS);
		return;
	}
	packet_set_inner(packet, c, ETHER_BRIDGED);
	packet->inner_id = slice_u32(header, 4) >> 8;
}

/* RFC 8926. */
static void
dissect_geneve(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header, options;
	uint16_t type;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, GENEVE_FIXED, &header) ||
	    !cursor_take(&c, (slice_u8(header, 0) & 0x3fu) * GENEVE_OPTION_UNIT, &options)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TUNNEL, ANOMALY_GENEVE_SHORT);
		return;
	}
	if (slice_u8(header, 0) >> 6 != 0) {
		packet_add_anomaly(packet, ANOMALY_GENEVE_VERSION);
		return;
	}
	type = slice_u16(header, 2);
	if (type != ETHER_BRIDGED && type != ETHER_IPV4 && type != ETHER_IPV6) {
		packet_advance(packet, &c);
		return;
	}
	packet_set_inner(packet, c, type);
	packet->inner_id = slice_u32(header, 4) >> 8;
}

/* RFC 3378. */
void
dissect_etherip(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, ETHERIP_HEADER, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TUNNEL, ANOMALY_ETHERIP_SHORT);
		return;
	}
	if (slice_u8(header, 0) >> 4 != ETHERIP_VERSION)
		packet_add_anomaly(packet, ANOMALY_ETHERIP_VERSION);
	else
		packet_set_inner(packet, c, ETHER_BRIDGED);
}

void
dissect_udp_tunnel(struct packet *packet)
{
	if (packet->udp.dport == PORT_VXLAN)
		dissect_vxlan(packet);
	else if (packet->udp.dport == PORT_GENEVE)
		dissect_geneve(packet);
}

bool
dissect_is_closed_tunnel(const struct packet *packet)
{
	if (packet->inner != INNER_NONE)
		return true;
	if ((packet->network != NETWORK_IPV4 && packet->network != NETWORK_IPV6) ||
	    packet->transport != TRANSPORT_NONE || packet_is_dropped(packet) || packet->payload.wire == 0)
		return false;
	switch (packet->ip.protocol) {
	case PROTOCOL_GRE:
	case PROTOCOL_ESP:
	case PROTOCOL_IPCOMP:
	case PROTOCOL_L2TP:
		return true;
	default:
		return false;
	}
}

bool
dissect_port_is_of_closed_tunnel(uint16_t port)
{
	switch (port) {
	case 1701:  /* L2TP */
	case 2152:  /* GTP-U */
	case 3544:  /* Teredo */
	case 4341:  /* LISP */
	case 4500:  /* ESP in UDP */
	case 4754:  /* GRE in UDP */
	case 4790:  /* VXLAN-GPE */
	case 5247:  /* CAPWAP */
	case 6080:  /* GUE */
	case 6635:  /* MPLS in UDP */
	case 8472:  /* VXLAN, default of Linux */
	case 37008: /* TZSP */
	case 51820: /* WireGuard */
		return true;
	default:
		return false;
	}
}

void
dissect_inner(const struct packet *outer, struct packet *inner)
{
	packet_init(inner, outer->frame, outer->payload);
	inner->direction = outer->direction;
	inner->loopback = outer->loopback;
	inner->tunnelled = true;
	inner->ifindex = outer->ifindex;
	inner->tunnels = (uint8_t)(outer->tunnels + 1);
	inner->layers_spent = inner->tunnels > DISSECT_TUNNELS_MAX ? DISSECT_LAYER_BUDGET : outer->layers_spent;
	if (outer->inner == INNER_ETHERNET)
		dissect_ethernet(inner);
	else if (outer->inner == INNER_IP && outer->inner_type != 0)
		dissect_ethertype(inner, outer->inner_type);
	else if (outer->inner == INNER_IP)
		dissect_ip(inner);
}
