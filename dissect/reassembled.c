/* SPDX-License-Identifier: BSD-2-Clause */
/* Dissection of a reassembled datagram. */
#include "dissect/header_fields.h"

enum { IPV4_FLAG_DF = 2 };

/* Builds the header that the datagram had before fragmentation (RFC 791 section 3.2, RFC 8200 section 4.5).  Its bytes
 * are those of the first fragment. */
static void
reassembled_fix_ip_layer(struct ip_layer *ip, uint32_t wire)
{
	uint32_t chain = ip->options.len > IPV6_FRAGMENT_HEADER_LEN ? ip->options.len - IPV6_FRAGMENT_HEADER_LEN : 0;

	ip->fragment = ip->more_fragments = false;
	ip->fragment_offset = 0;
	ip->flags &= IPV4_FLAG_DF;
	ip->payload_len = ip->version == 6 ? chain + wire : wire;
	ip->length = ip->header.len + ip->payload_len;
	if (ip->version == 6)
		ip->payload_length = (uint16_t)ip->payload_len;
	else
		ip->total_length = (uint16_t)ip->length;
}

/* Takes the extension headers of the fragmentable part.  False if one of them is malformed or truncated. */
static bool
reassembled_take_extensions(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	/* The fragment header counts as the first one: a hop-by-hop header after it is not allowed. */
	struct ipv6_extension_walk walk = {.next = packet->ip.protocol, .count = 1};
	enum anomaly why = ANOMALY_NONE;
	enum ipv6_extension_result result;

	while ((result = ipv6_extension_next(&walk, &c, &why)) == EXTENSION_TAKEN) {
		if (!packet_enter_layer(packet)) {
			result = EXTENSION_FAILED;
			why = ANOMALY_LAYER_BUDGET;
			break;
		}
		packet->ip.protocol = walk.next;
		packet_advance(packet, &c);
	}
	if (walk.has_routing_type0)
		packet_add_anomaly(packet, ANOMALY_IPV6_ROUTING_ZERO);
	if (result == EXTENSION_FAILED && why != ANOMALY_NONE)
		packet_add_anomaly(packet, why);
	else if (result == EXTENSION_FAILED)
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_EXTENSION);
	/* A fragment inside a reassembled datagram is not reassembled again (RFC 8200 section 4.5). */
	return result != EXTENSION_FAILED && !walk.fragment;
}

void
dissect_reassembled(const struct packet *last, const struct ip_layer *first, const uint8_t *bytes, uint32_t captured,
		    uint32_t wire, struct packet *whole)
{
	packet_init(whole, last->frame, cursor_init(bytes, captured, wire));
	whole->direction = last->direction;
	whole->loopback = last->loopback;
	whole->ifindex = last->ifindex;
	whole->layers_spent = last->layers_spent;
	whole->tunnels = last->tunnels;
	whole->ether = last->ether;
	whole->network = last->network;
	whole->ip = *first;
	reassembled_fix_ip_layer(&whole->ip, wire);
	whole->datagram = packet_cursor(whole);
	if (whole->network == NETWORK_IPV6) {
		if (!reassembled_take_extensions(whole))
			return;
		whole->datagram = packet_cursor(whole);
	}
	dissect_transport(whole, whole->ip.protocol);
}
