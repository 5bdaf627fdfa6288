/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet quoted by an ICMP error, parsed as far as its connection key requires (RFC 792, RFC 1812 section 4.3.2.3,
 * RFC 4443 section 2.4).  Senders truncate the quote, so only an unreadable IP header is an anomaly. */
#include "dissect/layers.h"

enum { IPV4_FIXED = 20, IPV6_FIXED = 40, PORTS = 4, PORTS_AND_SEQUENCE = 8 };

static void
note_failed(struct packet *packet, const struct cursor *c)
{
	packet_note_failed(packet, c, ANOMALY_TRUNCATED_QUOTE, ANOMALY_ICMP_QUOTE);
}

/* Parses the first bytes of the quoted payload, if the quote is the beginning of a datagram. */
static void
quote_ports(struct icmp_layer *icmp, const struct cursor *c)
{
	struct view bytes;

	switch (icmp->quote.protocol) {
	case PROTOCOL_TCP:
	case PROTOCOL_UDP:
	case PROTOCOL_DCCP:
	case PROTOCOL_SCTP:
	case PROTOCOL_UDPLITE:
		break;
	default:
		return;
	}
	if (!cursor_peek(c, PORTS, &bytes))
		return;
	icmp->quote.has_ports = true;
	icmp->quote.sport = view_u16(bytes, 0);
	icmp->quote.dport = view_u16(bytes, 2);
	if (icmp->quote.protocol == PROTOCOL_TCP && cursor_peek(c, PORTS_AND_SEQUENCE, &bytes)) {
		icmp->quote.has_seq = true;
		icmp->quote.seq = view_u32(bytes, 4);
	}
}

static void
quote_ipv4(struct packet *packet, struct cursor *c)
{
	struct cursor start = *c;
	struct icmp_layer *icmp = &packet->icmp;
	struct view fixed, options;
	uint32_t length;

	if (!cursor_take(c, IPV4_FIXED, &fixed)) {
		note_failed(packet, c);
		return;
	}
	length = (view_u8(fixed, 0) & 15u) * 4;
	if (length < IPV4_FIXED) {
		packet_note(packet, ANOMALY_ICMP_QUOTE);
		return;
	}
	icmp->quote.version = 4;
	icmp->quote.header = fixed;
	icmp->quote.protocol = view_u8(fixed, 9);
	view_copy(fixed, 12, icmp->quote.src, 4);
	view_copy(fixed, 16, icmp->quote.dst, 4);
	if (!cursor_take(c, length - IPV4_FIXED, &options)) {
		note_failed(packet, c);
		return;
	}
	icmp->quote.header = cursor_between(&start, c);
	if ((view_u16(fixed, 6) & 0x1fff) == 0)
		quote_ports(icmp, c);
}

static void
quote_ipv6(struct packet *packet, struct cursor *c)
{
	struct icmp_layer *icmp = &packet->icmp;
	struct extension_walk walk = {0};
	enum anomaly why = ANOMALY_NONE;
	enum extension_step step;
	struct view fixed;

	if (!cursor_take(c, IPV6_FIXED, &fixed)) {
		note_failed(packet, c);
		return;
	}
	icmp->quote.version = 6;
	icmp->quote.header = fixed;
	view_copy(fixed, 8, icmp->quote.src, 16);
	view_copy(fixed, 24, icmp->quote.dst, 16);
	walk.next = view_u8(fixed, 6);
	while ((step = extension_step(&walk, c, &why)) == EXTENSION_TAKEN)
		if (!packet_enter(packet))
			break;
	icmp->quote.protocol = walk.next;
	if (step == EXTENSION_END && (!walk.fragment || view_u16(walk.piece, 2) >> 3 == 0))
		quote_ports(icmp, c);
}

void
dissect_quote(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct view first;

	if (!packet_enter(packet))
		return;
	if (!cursor_peek(&c, 1, &first)) {
		cursor_skip(&c, 1);
		note_failed(packet, &c);
	} else if (view_u8(first, 0) >> 4 == 4) {
		quote_ipv4(packet, &c);
	} else if (view_u8(first, 0) >> 4 == 6) {
		quote_ipv6(packet, &c);
	} else {
		packet_note(packet, ANOMALY_ICMP_QUOTE);
	}
}
