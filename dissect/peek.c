/* SPDX-License-Identifier: BSD-2-Clause */
/* The link headers that the peek reads; Ethernet without tags is read inline (peek.h). */
#include "dissect/peek.h"

enum { TAGS_MAX = 2 }; /* VLAN tags that the peek skips */

static uint16_t
peek_cooked(struct frame_peek *peek, uint16_t packet_type, uint16_t hardware, uint16_t protocol)
{
	peek->direction = (uint8_t)cooked_packet_direction(packet_type);
	peek->loopback = hardware == ARPHRD_LOOPBACK;
	return hardware != ARPHRD_NETLINK ? protocol : 0; /* else the protocol is a netlink family */
}

static uint16_t
peek_null(struct frame_peek *peek, struct slice header)
{
	peek->loopback = true;
	return null_ether_type(slice_u32(header, 0));
}

/* Takes the link header without tags.  Returns the EtherType, 0 without one. */
static uint16_t
peek_header(struct frame_peek *peek, int dlt, struct cursor *c)
{
	struct slice v;

	switch (dlt) {
	case DLT_LINUX_SLL2:
		return cursor_take(c, SLL2_HEADER, &v)
			   ? peek_cooked(peek, slice_u8(v, 10), slice_u16(v, 8), slice_u16(v, 0))
			   : 0;
	case DLT_LINUX_SLL:
		return cursor_take(c, SLL_HEADER, &v)
			   ? peek_cooked(peek, slice_u16(v, 0), slice_u16(v, 2), slice_u16(v, 14))
			   : 0;
	case DLT_EN10MB:
		return cursor_take(c, ETHER_HEADER_LEN, &v) ? slice_u16(v, 12) : 0;
	case DLT_NULL:
	case DLT_LOOP:
		return cursor_take(c, NULL_HEADER, &v) ? peek_null(peek, v) : 0;
	case DLT_RAW:
	case DLT_RAW_OPENBSD:
	case DLT_RAW_FILE:
		return cursor_peek(c, 1, &v) && slice_u8(v, 0) >> 4 == 6 ? ETHER_IPV6 : ETHER_IPV4;
	case DLT_IPV4:
		return ETHER_IPV4;
	case DLT_IPV6:
		return ETHER_IPV6;
	default:
		return 0;
	}
}

struct peek_link
peek_read_link(struct frame_peek *peek, const struct frame *frame)
{
	struct cursor c = cursor_init(frame->data, frame->caplen, frame->len);
	uint16_t type = peek_header(peek, frame->dlt, &c);
	struct slice tag;

	for (unsigned tags = 0; tags < TAGS_MAX && ether_type_is_tag(type); tags++)
		type = cursor_take(&c, VLAN_TAG, &tag) ? slice_u16(tag, 2) : 0;
	return (struct peek_link){.type = type, .length = (uint16_t)(frame->caplen - c.captured)};
}

bool
peek_sum_is_right(const struct frame_peek *peek)
{
	uint32_t address = peek->version == 4 ? 4 : 16, length = peek_tcp_header_len(peek);
	uint32_t sum = slice_checksum((struct slice){peek->src, address}) +
		       (uint32_t)slice_checksum((struct slice){peek->dst, address}) + PROTOCOL_TCP + length +
		       slice_checksum((struct slice){peek->header, length});

	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* What the checksum of a segment depends on: the IP header, which has no options, and the segment. */
static void
peek_record_segment(struct packet *packet, const struct frame *frame, const struct frame_peek *peek)
{
	uint32_t ip_length = peek->version == 4 ? IPV4_HEADER_MIN : IPV6_HEADER_LEN;
	uint32_t header = slice_u8(peek_tcp_header(peek), 12) / 16u * 4;
	struct cursor c = cursor_init(frame->data, frame->caplen, frame->len);

	packet->ip.header = (struct slice){peek->header - ip_length, ip_length};
	packet->ip.options = (struct slice){NULL, 0};
	packet->ip.next_header = peek->protocol;
	packet->ip.super_packet = false;
	cursor_skip(&c, (uint32_t)(peek->header - frame->data));
	cursor_limit(&c, header + peek->payload_wire);
	packet->datagram = c;
}

void
peek_record_packet(struct packet *packet, const struct frame *frame, const struct frame_peek *peek, enum peek_kind kind)
{
	struct ip_layer *ip = &packet->ip;

	packet->frame = frame;
	packet->direction = (enum direction)peek->direction;
	packet->loopback = peek->loopback;
	packet->worst_anomaly = ANOMALY_NONE;
	packet->anomalies = (struct anomaly_set){{0, 0}};
	packet->inner = INNER_NONE;
	packet->ether.present = false; /* only the locality of an unspecified source depends on it */
	packet->network = peek->version == 4 ? NETWORK_IPV4 : NETWORK_IPV6;
	ip->version = peek->version;
	ip->fragment = false;
	ip->fragment_id = peek->fragment_id;
	ip->ttl = peek->ttl;
	if (peek->version == 4) {
		ipv4_record_address(ip->src, (struct slice){peek->src, 4});
		ipv4_record_address(ip->dst, (struct slice){peek->dst, 4});
	} else {
		memcpy(ip->src, peek->src, sizeof ip->src);
		memcpy(ip->dst, peek->dst, sizeof ip->dst);
	}
	packet->payload_wire = peek->payload_wire;
	packet->transport = kind == PEEK_UDP ? TRANSPORT_UDP : TRANSPORT_TCP;
	if (kind == PEEK_UDP) {
		packet->udp.checksum = peek->checksum;
		packet->payload = cursor_init(peek->payload.at, peek->payload.len, peek->payload_wire);
	} else {
		dissect_tcp_header(packet, peek_tcp_header(peek), peek_tcp_options(peek));
		peek_record_segment(packet, frame, peek);
	}
}
