/* SPDX-License-Identifier: BSD-2-Clause */
/* Dissection of a reassembled datagram. */
#include "dissect/layers.h"

enum { IPV6_FIXED = 40, FRAGMENT_HEADER = 8, FLAG_DF = 2 };

/* Builds the header that the datagram had before fragmentation (RFC 791 section 3.2, RFC 8200 section 4.5).  Its bytes
 * are those of the first fragment. */
static void
mend_ip(struct ip_layer *ip, uint32_t wire)
{
	uint32_t chain = ip->options.len > FRAGMENT_HEADER ? ip->options.len - FRAGMENT_HEADER : 0;

	ip->fragment = ip->more_fragments = false;
	ip->fragment_offset = 0;
	ip->flags &= FLAG_DF;
	ip->payload = ip->version == 6 ? chain + wire : wire;
	ip->length = ip->header.len + ip->payload;
	if (ip->version == 6)
		ip->payload_length = (uint16_t)ip->payload;
	else
		ip->total_length = (uint16_t)ip->length;
}

/* Takes the extension headers of the fragmentable part.  False if one of them is malformed or truncated. */
static bool
take_chain(struct packet *packet)
{
	struct cursor c = packet_rest(packet);
	struct extension_walk walk = {.next = packet->ip.protocol, .count = 1};
	enum anomaly why = ANOMALY_NONE;
	enum extension_step step;

	while ((step = extension_step(&walk, &c, &why)) == EXTENSION_TAKEN) {
		if (!packet_enter(packet))
			return false;
		packet->ip.protocol = walk.next;
		packet_advance(packet, &c);
	}
	if (step == EXTENSION_FAILED && why != ANOMALY_NONE)
		packet_note(packet, why);
	else if (step == EXTENSION_FAILED)
		packet_note_failed(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_EXTENSION);
	/* A fragment inside a reassembled datagram is not reassembled again (RFC 8200 section 4.5). */
	return step != EXTENSION_FAILED && !walk.fragment;
}

void
dissect_reassembled(const struct packet *last, const struct ip_layer *first, const uint8_t *bytes, uint32_t have,
		    uint32_t wire, struct packet *whole)
{
	packet_start(whole, last->frame, cursor_over(bytes, have, wire));
	whole->direction = last->direction;
	whole->loopback = last->loopback;
	whole->ifindex = last->ifindex;
	whole->depth = last->depth;
	whole->ether = last->ether;
	whole->network = last->network;
	whole->ip = *first;
	mend_ip(&whole->ip, wire);
	whole->datagram = packet_rest(whole);
	if (whole->network == NETWORK_IPV6) {
		if (!take_chain(whole))
			return;
		whole->datagram = packet_rest(whole);
	}
	dissect_transport(whole, whole->ip.protocol);
}
