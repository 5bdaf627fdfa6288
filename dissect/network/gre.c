/* SPDX-License-Identifier: BSD-2-Clause */
/* GRE: RFC 2784 with key and sequence number (RFC 2890), and PPTP's version 1 (RFC 2637). */
#include "dissect/layers.h"

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
