/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv4, RFC 791. */
#include "dissect/header_fields.h"

enum { IPV4_FLAG_RESERVED = 4, IPV4_FLAG_DF = 2 };
enum {
	OPTION_END = 0,
	OPTION_NOP = 1,
	OPTION_RECORD_ROUTE = 7,
	OPTION_TIMESTAMP = 68,
	OPTION_LOOSE_SOURCE_ROUTE = 131,
	OPTION_STRICT_SOURCE_ROUTE = 137,
};

/* Options with a pointer (RFC 791 section 3.1).  The pointer is 1-based and must point past the option's own header. */
static bool
ipv4_option_is_valid(uint8_t kind, struct slice option)
{
	switch (kind) {
	case OPTION_RECORD_ROUTE:
	case OPTION_LOOSE_SOURCE_ROUTE:
	case OPTION_STRICT_SOURCE_ROUTE:
		return option.len >= 3 && slice_u8(option, 2) >= 4;
	case OPTION_TIMESTAMP:
		return option.len >= 4 && slice_u8(option, 2) >= 5;
	default:
		return true;
	}
}

/* An option whose second byte is its length, which counts kind and length. */
static bool
ipv4_take_option(struct cursor *c, struct slice *option)
{
	struct slice head;

	if (!cursor_peek(c, 2, &head))
		return cursor_take(c, 2, option); /* fails and sets the cursor's error */
	return slice_u8(head, 1) >= 2 && cursor_take(c, slice_u8(head, 1), option);
}

static void
ipv4_validate_options(struct packet *packet, struct slice options, uint32_t wire)
{
	struct cursor c = cursor_init(options.at, options.len, wire);
	struct slice head, option;
	uint8_t kind;

	while (cursor_peek(&c, 1, &head) && slice_u8(head, 0) != OPTION_END) {
		kind = slice_u8(head, 0);
		if (kind == OPTION_NOP) {
			cursor_skip(&c, 1);
			continue;
		}
		if (!ipv4_take_option(&c, &option) || !ipv4_option_is_valid(kind, option)) {
			if (c.error != CURSOR_TRUNCATED)
				packet_add_anomaly(packet, ANOMALY_IPV4_OPTIONS);
			return;
		}
		if (kind == OPTION_LOOSE_SOURCE_ROUTE || kind == OPTION_STRICT_SOURCE_ROUTE)
			packet_add_anomaly(packet, ANOMALY_IPV4_SOURCE_ROUTE);
	}
}

/* Source and destination are equal ("land").  A host that talks to itself uses its loopback interface, so on a network
 * such a packet is forged.  Only an Ethernet header with nonzero addresses proves a network: the Ethernet header of
 * Linux's loopback is all zeros, and raw captures have no Ethernet header. */
static void
ipv4_validate_land(struct packet *packet)
{
	static const uint8_t zero[6];
	const struct ether_layer *ether = &packet->ether;

	if (!ether->present || packet->loopback || packet->frame->interface->loopback)
		return;
	if (memcmp(ether->src, zero, sizeof zero) == 0 && memcmp(ether->dst, zero, sizeof zero) == 0)
		return;
	packet_add_anomaly(packet, ANOMALY_IPV4_LAND);
}

/* RFC 1122 section 3.2.1.3: neither a multicast nor the broadcast address may be a source. */
static void
ipv4_validate_addresses(struct packet *packet, uint32_t src, uint32_t dst)
{
	if (src >= IPV4_MULTICAST_MIN && (src < 0xf0000000 || src == 0xffffffff))
		packet_add_anomaly(packet, ANOMALY_IPV4_SOURCE);
	if (src == dst && src != 0 && src >> 24 != 127)
		ipv4_validate_land(packet);
}

/* A header checksum of zero that is not the right value was left to the interface: the frame was captured before the
 * interface filled it in. */
static void
ipv4_validate_checksum(struct packet *packet, struct slice header)
{
	const struct ip_layer *ip = &packet->ip;

	if ((header.len == IPV4_HEADER_MIN ? ipv4_checksum_fixed(header) : slice_checksum(header)) == 0xffff)
		return;
	packet_add_anomaly(packet, ip->checksum == 0 || ip->super_packet ? ANOMALY_IPV4_CHECKSUM_OFFLOAD
									 : ANOMALY_IPV4_CHECKSUM);
}

/* Checks the total length against the bytes left in the frame.  Frames are padded, so a packet may be shorter than its
 * frame.  Total length 0 marks a super-packet, larger than the field allows (segmentation offload); it is never a
 * fragment. */
static void
ipv4_apply_total_length(struct packet *packet, uint32_t header_length, struct cursor *c)
{
	struct ip_layer *ip = &packet->ip;
	uint32_t wire = c->wire;

	if (ip->total_length == 0 && !ip->fragment) {
		ip->super_packet = true;
		ip->length = header_length + wire;
		packet_add_anomaly(packet, ANOMALY_SUPER_PACKET);
	}
	if (ip->length < header_length) {
		packet_add_anomaly(packet, ANOMALY_IPV4_TOTAL_LENGTH);
		return;
	}
	ip->payload_len = ip->length - header_length;
	if (ip->payload_len > wire && !ip_extend_cut_record(packet, c, ip->payload_len))
		packet_add_anomaly(packet, ANOMALY_IPV4_TOTAL_LENGTH);
	else
		cursor_limit(c, ip->payload_len);
}

/* Parses the options and makes the checks that need the whole header.  False if the header is not whole. */
static bool
ipv4_take_options(struct packet *packet, uint32_t header_length)
{
	struct ip_layer *ip = &packet->ip;
	struct cursor c = packet_cursor(packet);

	if (header_length < IPV4_HEADER_MIN ||
	    !cursor_take_captured(&c, header_length - IPV4_HEADER_MIN, &ip->options)) {
		packet_add_anomaly(packet, ANOMALY_IPV4_HEADER_LENGTH);
		return false;
	}
	ipv4_apply_total_length(packet, header_length, &c);
	packet_advance(packet, &c);
	packet->datagram = c;
	if (ip->options.len > 0) {
		ip->header = (struct slice){ip->header.at, IPV4_HEADER_MIN + ip->options.len};
		ipv4_validate_options(packet, ip->options, header_length - IPV4_HEADER_MIN);
	}
	if (ip->header.len < header_length) {
		packet_add_anomaly(packet, ANOMALY_TRUNCATED_NETWORK);
		return false;
	}
	ipv4_validate_checksum(packet, ip->header);
	return true;
}

static void
ipv4_validate_header(struct packet *packet, struct slice fixed)
{
	const struct ip_layer *ip = &packet->ip;

	ipv4_validate_addresses(packet, slice_u32(fixed, 12), slice_u32(fixed, 16));
	if (ip->ttl == 0)
		packet_add_anomaly(packet, ANOMALY_IPV4_TTL_ZERO);
	if (__builtin_expect((ip->flags & IPV4_FLAG_RESERVED) != 0, 0))
		packet_add_anomaly(packet, ANOMALY_IPV4_RESERVED_FLAG);
	if (__builtin_expect(ip->fragment, 0)) {
		if ((ip->flags & IPV4_FLAG_DF) != 0)
			packet_add_anomaly(packet, ANOMALY_IPV4_DF_FRAGMENT);
		ip_validate_fragment(packet, ip->payload_len);
	}
}

void
dissect_ipv4(struct packet *packet)
{
	struct cursor c = packet_cursor(packet);
	struct slice fixed;
	bool whole;

	if (!packet_enter_layer(packet))
		return;
	if (!cursor_take(&c, IPV4_HEADER_MIN, &fixed)) {
		packet_add_cursor_anomaly(packet, &c, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT);
		return;
	}
	if (slice_u8(fixed, 0) >> 4 != 4) {
		packet_add_anomaly(packet, ANOMALY_IP_VERSION);
		return;
	}
	ipv4_record(packet, fixed);
	packet_advance(packet, &c);
	whole = ipv4_take_options(packet, (slice_u8(fixed, 0) & 15u) * 4);
	ipv4_validate_header(packet, fixed);
	if (__builtin_expect(whole && !packet->ip.fragment && !packet_is_dropped(packet), 1))
		dissect_transport(packet, packet->ip.protocol);
}
