/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet quoted by an ICMP error, parsed as far as its flow key requires (RFC 792, RFC 1812 section 4.3.2.3,
 * RFC 4443 section 2.4).  Senders truncate the quote, so only an unreadable IP header is an anomaly. */
#include "dissect/header_fields.h"

enum { PORTS = 4, PORTS_AND_SEQUENCE = 8 };

static void
icmp_quote_add_anomaly(struct packet *packet, const struct cursor *c)
{
	packet_add_cursor_anomaly(packet, c, ANOMALY_TRUNCATED_QUOTE, ANOMALY_ICMP_QUOTE);
}

/* Parses the first bytes of the quoted payload, if the quote is the beginning of a datagram. */
static void
icmp_quote_take_ports(struct icmp_layer *icmp, const struct cursor *c)
{
	struct slice bytes;

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
	icmp->quote.sport = slice_u16(bytes, 0);
	icmp->quote.dport = slice_u16(bytes, 2);
	if (icmp->quote.protocol == PROTOCOL_TCP && cursor_peek(c, PORTS_AND_SEQUENCE, &bytes)) {
		icmp->quote.has_seq = true;
		icmp->quote.seq = slice_u32(bytes, 4);
	}
}

static void
icmp_quote_take_ipv4(struct packet *packet, struct cursor *c)
{
	struct cursor start = *c;
	struct icmp_layer *icmp = &packet->icmp;
	struct slice fixed, options;
	uint32_t length;

	if (!cursor_take(c, IPV4_HEADER_MIN, &fixed)) {
		icmp_quote_add_anomaly(packet, c);
		return;
	}
	length = (slice_u8(fixed, 0) & 15u) * 4;
	if (length < IPV4_HEADER_MIN) {
		packet_add_anomaly(packet, ANOMALY_ICMP_QUOTE);
		return;
	}
	icmp->quote.version = 4;
	icmp->quote.header = fixed;
	icmp->quote.protocol = slice_u8(fixed, 9);
	slice_copy(fixed, 12, icmp->quote.src, 4);
	slice_copy(fixed, 16, icmp->quote.dst, 4);
	if (!cursor_take(c, length - IPV4_HEADER_MIN, &options)) {
		icmp_quote_add_anomaly(packet, c);
		return;
	}
	icmp->quote.header = cursor_slice_between(&start, c);
	if ((slice_u16(fixed, 6) & 0x1fff) == 0)
		icmp_quote_take_ports(icmp, c);
}

static void
icmp_quote_take_ipv6(struct packet *packet, struct cursor *c)
{
	struct icmp_layer *icmp = &packet->icmp;
	struct ipv6_extension_walk walk = {0};
	enum anomaly why = ANOMALY_NONE;
	enum ipv6_extension_result result;
	struct slice fixed;

	if (!cursor_take(c, IPV6_HEADER_LEN, &fixed)) {
		icmp_quote_add_anomaly(packet, c);
		return;
	}
	icmp->quote.version = 6;
	icmp->quote.header = fixed;
	slice_copy(fixed, 8, icmp->quote.src, 16);
	slice_copy(fixed, 24, icmp->quote.dst, 16);
	walk.next = slice_u8(fixed, 6);
	while ((result = ipv6_extension_next(&walk, c, &why)) == EXTENSION_TAKEN)
		if (!packet_enter_layer(packet))
			break;
	icmp->quote.protocol = walk.next;
	if (result == EXTENSION_END && (!walk.fragment || slice_u16(walk.fragment_header, 2) >> 3 == 0))
		icmp_quote_take_ports(icmp, c);
}

void
dissect_icmp_quote(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice first;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_peek(&c, 1, &first)) {
		cursor_skip(&c, 1);
		icmp_quote_add_anomaly(packet, &c);
	} else if (slice_u8(first, 0) >> 4 == 4) {
		icmp_quote_take_ipv4(packet, &c);
	} else if (slice_u8(first, 0) >> 4 == 6) {
		icmp_quote_take_ipv6(packet, &c);
	} else {
		packet_add_anomaly(packet, ANOMALY_ICMP_QUOTE);
	}
}
