/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peeks at a frame: reads what is needed to update a connection while no probe is enabled.  The frame must be untagged
 * Ethernet with IP (no options, extension headers or fragments) and TCP or UDP, without any anomaly.  For such a frame
 * the fields are equal to those of dissect_frame(), which fills many more (tests/dissect/test_common_frame.c compares
 * both).  Inline, because this is half of the cost of most packets.
 */
#ifndef NETOBS_DISSECT_PEEK_H
#define NETOBS_DISSECT_PEEK_H

#include "dissect/header_fields.h"

enum peek_kind {
	PEEK_NONE,  /* not recognised: dissect the frame */
	PEEK_TUPLE, /* only the flow key is known (addresses, ports, protocol, version): dissect the frame */
	PEEK_TCP,   /* an ACK, with or without data, with no option but timestamps; no SYN, FIN or RST */
	PEEK_UDP,   /* a UDP datagram that carries no tunnel */
};

struct frame_peek {
	const uint8_t *src, *dst; /* pointers into the frame, 4 or 16 bytes; neither is a group address, and src is not
				   * unspecified */
	uint32_t seq, ack;	  /* valid for PEEK_TCP, as is `window` */
	uint16_t window;	  /* as on the wire, unscaled */
	uint16_t sport, dport;	  /* host order */
	uint8_t protocol;	  /* 6 or 17 */
	uint8_t version;	  /* 4 or 6 */
	uint32_t payload_wire;	  /* payload bytes on the wire; valid for PEEK_TCP and PEEK_UDP */
};

enum { IPV4_SRC_MIN = 0x01000000, IPV4_MULTICAST_MIN = 0xe0000000 }; /* RFC 1122 section 3.2.1.3, RFC 1112 */

static inline bool
peek_ipv4(struct frame_peek *g, struct cursor *c)
{
	struct slice fixed;
	uint32_t src, dst, length;

	if (!cursor_take(c, IPV4_HEADER_MIN, &fixed))
		return false;
	src = slice_u32(fixed, 12);
	dst = slice_u32(fixed, 16);
	length = slice_u16(fixed, 2);
	if (slice_u8(fixed, 0) != 0x45 || (slice_u16(fixed, 6) & 0xbfff) != 0 || slice_u8(fixed, 8) == 0 ||
	    length < IPV4_HEADER_MIN || length - IPV4_HEADER_MIN > c->wire || src < IPV4_SRC_MIN ||
	    src >= IPV4_MULTICAST_MIN || dst >= IPV4_MULTICAST_MIN || src == dst ||
	    ipv4_checksum_fixed(fixed) != 0xffff)
		return false;
	g->src = slice_bytes(fixed, 12, 4);
	g->dst = slice_bytes(fixed, 16, 4);
	g->version = 4;
	g->protocol = slice_u8(fixed, 9);
	cursor_limit(c, length - IPV4_HEADER_MIN);
	return true;
}

static inline bool
peek_ipv6(struct frame_peek *g, struct cursor *c)
{
	struct slice fixed;
	uint32_t length;

	if (!cursor_take(c, IPV6_HEADER_LEN, &fixed))
		return false;
	length = slice_u16(fixed, 4);
	if (slice_u8(fixed, 0) >> 4 != 6 || slice_u8(fixed, 7) == 0 || length == 0 || length > c->wire ||
	    slice_u8(fixed, 8) == 0xff || slice_u8(fixed, 24) == 0xff ||
	    (slice_u64(fixed, 8) | slice_u64(fixed, 16)) == 0)
		return false;
	g->src = slice_bytes(fixed, 8, 16);
	g->dst = slice_bytes(fixed, 24, 16);
	g->version = 6;
	g->protocol = slice_u8(fixed, 6);
	cursor_limit(c, length);
	return true;
}

static inline enum peek_kind
peek_tcp(struct frame_peek *g, struct cursor *c)
{
	struct slice fixed, options;
	uint8_t offset;

	if (!cursor_take(c, TCP_HEADER_MIN, &fixed))
		return PEEK_NONE;
	g->sport = slice_u16(fixed, 0);
	g->dport = slice_u16(fixed, 2);
	offset = slice_u8(fixed, 12);
	if ((slice_u8(fixed, 13) & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) != TCP_ACK || g->sport == 0 ||
	    g->dport == 0)
		return PEEK_TUPLE;
	if (offset == 0x80) {
		if (!cursor_take(c, 12, &options) || slice_u32(options, 0) != TCP_TIMESTAMPS_ONLY)
			return PEEK_TUPLE;
	} else if (offset != 0x50) {
		return PEEK_TUPLE;
	}
	g->seq = slice_u32(fixed, 4);
	g->ack = slice_u32(fixed, 8);
	g->window = slice_u16(fixed, 14);
	g->payload_wire = c->wire;
	return PEEK_TCP;
}

static inline enum peek_kind
peek_udp(struct frame_peek *g, struct cursor *c)
{
	struct slice header;

	if (!cursor_take(c, UDP_HEADER_LEN, &header))
		return PEEK_NONE;
	g->sport = slice_u16(header, 0);
	g->dport = slice_u16(header, 2);
	g->payload_wire = c->wire;
	if (slice_u16(header, 4) != c->wire + UDP_HEADER_LEN || g->dport == 0 || udp_port_is_tunnel(g->dport))
		return PEEK_TUPLE;
	return PEEK_UDP;
}

/* Peeks at an Ethernet frame.  Writes only those fields of `*glance` that the returned kind makes valid. */
static inline enum peek_kind
peek_frame(struct frame_peek *g, const struct frame *frame)
{
	struct cursor c = cursor_init(frame->data, frame->caplen, frame->len);
	struct slice header;
	uint16_t type;

	if (!cursor_take(&c, ETHER_HEADER_LEN, &header))
		return PEEK_NONE;
	type = slice_u16(header, 12);
	if (!(type == ETHER_IPV4 ? peek_ipv4(g, &c) : type == ETHER_IPV6 && peek_ipv6(g, &c)))
		return PEEK_NONE;
	if (g->protocol == PROTOCOL_TCP)
		return peek_tcp(g, &c);
	return g->protocol == PROTOCOL_UDP ? peek_udp(g, &c) : PEEK_NONE;
}

#endif
