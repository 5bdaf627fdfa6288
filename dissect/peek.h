/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peeks at a frame: reads what is needed to update a connection while no probe is enabled.  The frame must be untagged
 * Ethernet with IP (no options, extension headers or fragments) and TCP or UDP, without any anomaly.  For such a frame
 * the fields are equal to those of dissect_frame(), which fills many more (tests/dissect/test_common_frame.c compares both).  Inline,
 * because this is half of the cost of most packets.
 */
#ifndef NETOBS_DISSECT_PEEK_H
#define NETOBS_DISSECT_PEEK_H

#include "dissect/header_fields.h"

enum glance_kind {
	GLANCE_NONE, /* not recognised: dissect the frame */
	GLANCE_KEY,  /* only the flow key is known (addresses, ports, protocol, version): dissect the frame */
	GLANCE_TCP,  /* an ACK, with or without data, with no option but timestamps; no SYN, FIN or RST */
	GLANCE_UDP,  /* a UDP datagram that carries no tunnel */
};

struct glance {
	const uint8_t *src, *dst; /* pointers into the frame, 4 or 16 bytes; neither is a group address, and src is not
				   * unspecified */
	uint32_t seq, ack;	  /* valid for GLANCE_TCP, as is `window` */
	uint16_t window;	  /* as on the wire, unscaled */
	uint16_t sport, dport;	  /* host order */
	uint8_t protocol;	  /* 6 or 17 */
	uint8_t version;	  /* 4 or 6 */
	uint32_t segment;	  /* payload bytes on the wire; valid for GLANCE_TCP and GLANCE_UDP */
};

enum { IPV4_LEAST_SRC = 0x01000000, IPV4_GROUPS = 0xe0000000 }; /* RFC 1122 section 3.2.1.3, RFC 1112 */

static inline bool
glance_ipv4(struct glance *g, struct cursor *c)
{
	struct view fixed;
	uint32_t src, dst, length;

	if (!cursor_take(c, IPV4_FIXED, &fixed))
		return false;
	src = view_u32(fixed, 12);
	dst = view_u32(fixed, 16);
	length = view_u16(fixed, 2);
	if (view_u8(fixed, 0) != 0x45 || (view_u16(fixed, 6) & 0xbfff) != 0 || view_u8(fixed, 8) == 0 ||
	    length < IPV4_FIXED || length - IPV4_FIXED > c->wire || src < IPV4_LEAST_SRC || src >= IPV4_GROUPS ||
	    dst >= IPV4_GROUPS || src == dst || ipv4_sum_fixed(fixed) != 0xffff)
		return false;
	g->src = view_bytes(fixed, 12, 4);
	g->dst = view_bytes(fixed, 16, 4);
	g->version = 4;
	g->protocol = view_u8(fixed, 9);
	cursor_limit(c, length - IPV4_FIXED);
	return true;
}

static inline bool
glance_ipv6(struct glance *g, struct cursor *c)
{
	struct view fixed;
	uint32_t length;

	if (!cursor_take(c, IPV6_FIXED, &fixed))
		return false;
	length = view_u16(fixed, 4);
	if (view_u8(fixed, 0) >> 4 != 6 || view_u8(fixed, 7) == 0 || length == 0 || length > c->wire ||
	    view_u8(fixed, 8) == 0xff || view_u8(fixed, 24) == 0xff || (view_u64(fixed, 8) | view_u64(fixed, 16)) == 0)
		return false;
	g->src = view_bytes(fixed, 8, 16);
	g->dst = view_bytes(fixed, 24, 16);
	g->version = 6;
	g->protocol = view_u8(fixed, 6);
	cursor_limit(c, length);
	return true;
}

static inline enum glance_kind
glance_tcp(struct glance *g, struct cursor *c)
{
	struct view fixed, options;
	uint8_t offset;

	if (!cursor_take(c, TCP_FIXED, &fixed))
		return GLANCE_NONE;
	g->sport = view_u16(fixed, 0);
	g->dport = view_u16(fixed, 2);
	offset = view_u8(fixed, 12);
	if ((view_u8(fixed, 13) & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) != TCP_ACK || g->sport == 0 || g->dport == 0)
		return GLANCE_KEY;
	if (offset == 0x80) {
		if (!cursor_take(c, 12, &options) || view_u32(options, 0) != TIMESTAMPS_ALONE)
			return GLANCE_KEY;
	} else if (offset != 0x50) {
		return GLANCE_KEY;
	}
	g->seq = view_u32(fixed, 4);
	g->ack = view_u32(fixed, 8);
	g->window = view_u16(fixed, 14);
	g->segment = c->wire;
	return GLANCE_TCP;
}

static inline enum glance_kind
glance_udp(struct glance *g, struct cursor *c)
{
	struct view header;

	if (!cursor_take(c, UDP_HEADER, &header))
		return GLANCE_NONE;
	g->sport = view_u16(header, 0);
	g->dport = view_u16(header, 2);
	g->segment = c->wire;
	if (view_u16(header, 4) != c->wire + UDP_HEADER || g->dport == 0 || is_udp_tunnel(g->dport))
		return GLANCE_KEY;
	return GLANCE_UDP;
}

/* Peeks at an Ethernet frame.  Writes only those fields of `*glance` that the returned kind makes valid. */
static inline enum glance_kind
glance_at(struct glance *g, const struct frame *frame)
{
	struct cursor c = cursor_over(frame->data, frame->caplen, frame->len);
	struct view header;
	uint16_t type;

	if (!cursor_take(&c, ETHER_HEADER, &header))
		return GLANCE_NONE;
	type = view_u16(header, 12);
	if (!(type == ETHER_IPV4 ? glance_ipv4(g, &c) : type == ETHER_IPV6 && glance_ipv6(g, &c)))
		return GLANCE_NONE;
	if (g->protocol == PROTOCOL_TCP)
		return glance_tcp(g, &c);
	return g->protocol == PROTOCOL_UDP ? glance_udp(g, &c) : GLANCE_NONE;
}

#endif
