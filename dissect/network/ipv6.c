/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv6 (RFC 8200), jumbograms (RFC 2675), and BIG TCP, Linux's use of them. */
#include "dissect/header_fields.h"

enum { SMALLEST_TRANSPORT = 8, LARGEST_PAYLOAD = 65535 };

static void
become_super(struct packet *packet, uint32_t payload)
{
	packet->ip.super = true;
	packet->ip.payload = payload;
	packet->ip.length = payload + IPV6_FIXED;
	packet_note(packet, ANOMALY_SUPER_PACKET);
}

/* Payload length 0 has three meanings: no payload (the link may have added padding); a jumbogram, whose hop-by-hop
 * header holds the length; or a BIG TCP packet from a kernel that omits that header.  The third is assumed if a
 * transport header fits. */
static void
judge_length(struct packet *packet, struct cursor *c)
{
	const struct ip_layer *ip = &packet->ip;

	if (ip->payload_length > c->wire)
		packet_note(packet, ANOMALY_IPV6_LENGTH);
	else if (ip->payload_length > 0)
		cursor_limit(c, ip->payload_length);
	else if (ip->next_header == PROTOCOL_HOP_BY_HOP)
		return;
	else if (ip->next_header != PROTOCOL_NO_NEXT && ip->next_header != PROTOCOL_FRAGMENT &&
		 c->wire >= SMALLEST_TRANSPORT)
		become_super(packet, c->wire);
	else
		cursor_limit(c, 0);
}

/* Checks the jumbo payload option (RFC 2675 section 3) after the hop-by-hop header has been taken; `start` is the
 * cursor before it. */
static void
judge_jumbo(struct packet *packet, const struct extension_walk *walk, const struct cursor *start, struct cursor *c)
{
	uint32_t taken = start->wire - c->wire;

	if (!walk->has_jumbo && packet->ip.payload_length > 0)
		return;
	if (!walk->has_jumbo || packet->ip.payload_length > 0 || walk->jumbo <= LARGEST_PAYLOAD) {
		packet_note(packet, ANOMALY_IPV6_JUMBO);
	} else if (walk->jumbo > start->wire) {
		packet_note(packet, ANOMALY_IPV6_LENGTH);
	} else {
		become_super(packet, walk->jumbo);
		cursor_limit(c, walk->jumbo - taken);
	}
}

static void
judge_rest(struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;

	if (ip->src[0] == 0xff) /* RFC 4291 section 2.7 */
		packet_note(packet, ANOMALY_IPV6_SOURCE);
	if (ip->ttl == 0)
		packet_note(packet, ANOMALY_IPV6_HOP_LIMIT_ZERO);
}

static void
record_fragment(struct packet *packet, const struct extension_walk *walk, const struct cursor *c)
{
	struct ip_layer *ip = &packet->ip;

	ip->fragment = walk->fragment;
	ip->fragment_id = view_u32(walk->piece, 4);
	ip->fragment_offset = view_u16(walk->piece, 2) >> 3;
	ip->more_fragments = view_u16(walk->piece, 2) & 1;
	if (walk->fragment)
		ip_judge_fragment(packet, c->wire);
	else
		packet_note(packet, ANOMALY_IPV6_ATOMIC_FRAGMENT);
}

/* Takes the chain of extension headers.  False if one of them is malformed or truncated. */
static bool
take_chain(struct packet *packet, struct cursor *c)
{
	struct cursor start = *c;
	struct ip_layer *ip = &packet->ip;
	struct extension_walk walk = {.next = ip->next_header};
	enum anomaly why = ANOMALY_NONE;
	enum extension_step step;

	while ((step = extension_step(&walk, c, &why)) == EXTENSION_TAKEN) {
		if (!packet_enter(packet))
			return false;
		if (walk.count == 1 && ip->next_header == PROTOCOL_HOP_BY_HOP)
			judge_jumbo(packet, &walk, &start, c);
		ip->options = cursor_between(&start, c);
		ip->protocol = walk.next;
		packet_advance(packet, c);
	}
	if (walk.routing_zero)
		packet_note(packet, ANOMALY_IPV6_ROUTING_ZERO);
	if (step == EXTENSION_FAILED && why != ANOMALY_NONE)
		packet_note(packet, why);
	else if (step == EXTENSION_FAILED)
		packet_note_failed(packet, c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_EXTENSION);
	if (step != EXTENSION_FAILED && walk.piece.len > 0)
		record_fragment(packet, &walk, c);
	return step != EXTENSION_FAILED;
}

void
dissect_ipv6(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct view fixed;
	bool held;

	if (!packet_enter(packet))
		return;
	if (!cursor_take(&c, IPV6_FIXED, &fixed)) {
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_SHORT);
		return;
	}
	if (view_u8(fixed, 0) >> 4 != 6) {
		packet_note(packet, ANOMALY_IP_VERSION);
		return;
	}
	ipv6_record(packet, fixed);
	judge_rest(packet);
	judge_length(packet, &c);
	packet_advance(packet, &c);
	held = take_chain(packet, &c);
	packet->datagram = packet->payload;
	if (held && !packet->ip.fragment && !packet_dropped(packet))
		dissect_transport(packet, packet->ip.protocol);
}
