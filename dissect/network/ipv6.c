/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv6 (RFC 8200), jumbograms (RFC 2675), and BIG TCP, Linux's use of them. */
#include "dissect/header_fields.h"

enum { TRANSPORT_HEADER_MIN = 8, IPV6_PAYLOAD_MAX = 65535 };

static void
ipv6_set_super_packet(struct packet *packet, uint32_t payload)
{
	packet->ip.super_packet = true;
	packet->ip.payload_len = payload;
	packet->ip.length = payload + IPV6_HEADER_LEN;
	packet_add_anomaly(packet, ANOMALY_SUPER_PACKET);
}

/* Payload length 0 has three meanings: no payload (the link may have added padding); a jumbogram, whose hop-by-hop
 * header holds the length; or a BIG TCP packet from a kernel that omits that header.  The third is assumed if a
 * transport header fits. */
static void
ipv6_apply_payload_length(struct packet *packet, struct cursor *c)
{
	const struct ip_layer *ip = &packet->ip;

	if (ip->payload_length > c->wire && !ip_extend_cut_record(packet, c, ip->payload_length))
		packet_add_anomaly(packet, ANOMALY_IPV6_LENGTH);
	else if (ip->payload_length > 0)
		cursor_limit(c, ip->payload_length);
	else if (ip->next_header == PROTOCOL_HOP_BY_HOP)
		return;
	else if (ip->next_header != PROTOCOL_NO_NEXT && ip->next_header != PROTOCOL_FRAGMENT &&
		 c->wire >= TRANSPORT_HEADER_MIN)
		ipv6_set_super_packet(packet, c->wire);
	else
		cursor_limit(c, 0);
}

/* Checks the jumbo payload option (RFC 2675 section 3) after the hop-by-hop header has been taken; `start` is the
 * cursor before it. */
static void
ipv6_apply_jumbo_length(struct packet *packet, const struct ipv6_extension_walk *walk, const struct cursor *start,
			struct cursor *c)
{
	uint32_t taken = start->wire - c->wire;

	if (!walk->has_jumbo && packet->ip.payload_length > 0)
		return;
	if (!walk->has_jumbo || packet->ip.payload_length > 0 || walk->jumbo <= IPV6_PAYLOAD_MAX) {
		packet_add_anomaly(packet, ANOMALY_IPV6_JUMBO);
	} else if (walk->jumbo > start->wire) {
		packet_add_anomaly(packet, ANOMALY_IPV6_LENGTH);
	} else {
		ipv6_set_super_packet(packet, walk->jumbo);
		cursor_limit(c, walk->jumbo - taken);
	}
}

static void
ipv6_validate_header(struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;

	if (ip->src[0] == 0xff) /* RFC 4291 section 2.7 */
		packet_add_anomaly(packet, ANOMALY_IPV6_SOURCE);
	if (ip->ttl == 0)
		packet_add_anomaly(packet, ANOMALY_IPV6_HOP_LIMIT_ZERO);
}

static void
ipv6_record_fragment(struct packet *packet, const struct ipv6_extension_walk *walk, const struct cursor *c)
{
	struct ip_layer *ip = &packet->ip;

	ip->fragment = walk->fragment;
	ip->fragment_id = slice_u32(walk->fragment_header, 4);
	ip->fragment_offset = slice_u16(walk->fragment_header, 2) >> 3;
	ip->more_fragments = slice_u16(walk->fragment_header, 2) & 1;
	if (walk->fragment)
		ip_validate_fragment(packet, c->wire);
	else
		packet_add_anomaly(packet, ANOMALY_IPV6_ATOMIC_FRAGMENT);
}

/* Takes the chain of extension headers.  False if one of them is malformed or truncated. */
static bool
ipv6_take_extensions(struct packet *packet, struct cursor *c)
{
	struct cursor start = *c;
	struct ip_layer *ip = &packet->ip;
	struct ipv6_extension_walk walk = {.next = ip->next_header};
	enum anomaly why = ANOMALY_NONE;
	enum ipv6_extension_result result;

	while ((result = ipv6_extension_next(&walk, c, &why)) == EXTENSION_TAKEN) {
		if (!packet_enter_layer(packet)) {
			result = EXTENSION_FAILED;
			why = ANOMALY_LAYER_BUDGET; /* what the headers so far say is recorded below */
			break;
		}
		if (walk.count == 1 && ip->next_header == PROTOCOL_HOP_BY_HOP)
			ipv6_apply_jumbo_length(packet, &walk, &start, c);
		ip->options = cursor_slice_between(&start, c);
		ip->protocol = walk.next;
		packet_advance(packet, c);
	}
	if (walk.has_routing_type0)
		packet_add_anomaly(packet, ANOMALY_IPV6_ROUTING_ZERO);
	if (result == EXTENSION_FAILED && why != ANOMALY_NONE)
		packet_add_anomaly(packet, why);
	else if (result == EXTENSION_FAILED)
		packet_add_cursor_anomaly(packet, c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_EXTENSION);
	if (result != EXTENSION_FAILED && walk.fragment_header.len > 0)
		ipv6_record_fragment(packet, &walk, c);
	return result != EXTENSION_FAILED;
}

void
dissect_ipv6(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice fixed;
	bool whole;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, IPV6_HEADER_LEN, &fixed)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_SHORT);
		return;
	}
	if (slice_u8(fixed, 0) >> 4 != 6) {
		packet_add_anomaly(packet, ANOMALY_IP_VERSION);
		return;
	}
	ipv6_record(packet, fixed);
	ipv6_validate_header(packet);
	ipv6_apply_payload_length(packet, &c);
	packet_advance(packet, &c);
	whole = ipv6_take_extensions(packet, &c);
	packet->datagram = packet->payload;
	if (whole && !packet->ip.fragment && !packet_is_dropped(packet))
		dissect_transport(packet, packet->ip.protocol);
}
