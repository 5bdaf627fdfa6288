/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP for IPv4 (RFC 792, 950, 1191, 1256, 8335) and ICMPv6 (RFC 4443, 4861, 8335). */
#include "dissect/header_fields.h"
#include "dissect/layers.h"

/* The packet quoted by an ICMP error, parsed as far as its flow key requires (RFC 792, RFC 1812 section 4.3.2.3,
 * RFC 4443 section 2.4).  Senders truncate the quote, so only an unreadable IP header is an anomaly. */

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

static void
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

/* --- ICMP for IPv4: RFC 792, 950, 1191, 1256, 8335. --- */

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
static bool
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

/* --- ICMPv6: RFC 4443; neighbour discovery, RFC 4861; extended echo, RFC 8335. --- */

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

/* Target address, after the first 8 bytes.  In a redirect it is the better next hop, so it is also stored as the
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
