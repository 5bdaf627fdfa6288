/* SPDX-License-Identifier: BSD-2-Clause */
/* Tunnels: GRE, EtherIP and those over UDP; the dissection of what a tunnel carries. */
#include "dissect/layers.h"

/* --- GRE: RFC 2784 with key and sequence number (RFC 2890), and PPTP's version 1 (RFC 2637). --- */

enum { GRE_FIXED = 4, GRE_WORD = 4 };
enum {
	GRE_CHECKSUM = 0x8000,
	GRE_ROUTED = 0x4000,
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	GRE_RESERVED = 0x0ff8, /* version 0: strict source route, recursion control and reserved bits of RFC 1701 */
	GRE_VERSION_BITS = 0x0007,
	PPTP_ACKNOWLEDGMENT = 0x0080,
	PPTP_MUST = GRE_KEY,
	PPTP_MUST_NOT = GRE_CHECKSUM | GRE_ROUTED | 0x0800 | 0x0700 | 0x0078,
};

static void
gre_set_inner(struct packet *packet, const struct cursor *c, uint16_t type)
{
	switch (type) {
	case ETHER_IPV4:
	case ETHER_IPV6:
	case ETHER_MPLS:
	case ETHER_MPLS_UP:
	case ETHER_BRIDGED:
		packet_set_inner(packet, *c, type);
		break;
	default:
		break;
	}
}

/* PPP in HDLC-like framing, with or without the address and control fields (RFC 1662, RFC 2637 section 4.1). */
static void
pptp_set_inner(struct packet *packet, struct cursor *c)
{
	struct slice head;
	uint16_t type;

	if (c->wire == 0) /* an acknowledgment without payload */
		return;
	if (cursor_peek(c, 2, &head) && slice_u16(head, 0) == 0xff03)
		cursor_skip(c, 2);
	if (!dissect_ppp_protocol(c, &type)) {
		packet_add_cursor_anomaly(packet, c, ANOMALY_TRUNCATED_TUNNEL, ANOMALY_GRE_SHORT);
		return;
	}
	if (type != 0)
		packet_set_inner(packet, *c, type);
}

static bool
gre_validate_flags(struct packet *packet, uint16_t flags)
{
	unsigned version = flags & GRE_VERSION_BITS;

	if (version > 1) {
		packet_add_anomaly(packet, ANOMALY_GRE_VERSION);
		return false;
	}
	if (version == 0 && (flags & GRE_ROUTED) != 0) {
		packet_add_anomaly(packet, ANOMALY_GRE_ROUTING);
		return false;
	}
	if ((version == 0 && (flags & GRE_RESERVED) != 0) ||
	    (version == 1 && ((flags & PPTP_MUST) == 0 || (flags & PPTP_MUST_NOT) != 0)))
		packet_add_anomaly(packet, ANOMALY_GRE_FLAGS);
	return true;
}

void
dissect_gre(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice header, words;
	uint16_t flags, type;
	uint32_t optional = 0;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, GRE_FIXED, &header)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TUNNEL, ANOMALY_GRE_SHORT);
		return;
	}
	flags = slice_u16(header, 0);
	type = slice_u16(header, 2);
	if (!gre_validate_flags(packet, flags))
		return;
	optional += (flags & GRE_CHECKSUM) != 0 ? GRE_WORD : 0;
	optional += (flags & GRE_KEY) != 0 ? GRE_WORD : 0;
	optional += (flags & GRE_SEQUENCE) != 0 ? GRE_WORD : 0;
	optional += (flags & GRE_VERSION_BITS) == 1 && (flags & PPTP_ACKNOWLEDGMENT) != 0 ? GRE_WORD : 0;
	if (!cursor_take(&c, optional, &words)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_TUNNEL, ANOMALY_GRE_SHORT);
		return;
	}
	packet_advance(packet, &c);
	if ((flags & GRE_VERSION_BITS) == 0)
		gre_set_inner(packet, &c, type);
	else if (type == ETHER_PPP)
		pptp_set_inner(packet, &c);
	if ((flags & GRE_VERSION_BITS) == 0 && (flags & GRE_KEY) != 0)
		packet->inner_id = slice_u32(words, (flags & GRE_CHECKSUM) != 0 ? GRE_WORD : 0);
}

/* --- Tunnels over UDP and EtherIP, and the dissection of what a tunnel carries. --- */

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
