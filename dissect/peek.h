/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peek: the headers of a frame, read without dissecting it.
 *
 * It gives the flow tuple, with which the flow's memory is fetched, and, of a plain TCP or UDP packet, all that the
 * fast path needs (flow/fastpath.h).  One parser for all link types: they differ in the length of the link header and
 * in where the EtherType stands.  Plain means IP without options, extension headers or fragments, and no anomaly; the
 * layers record the same fields of such a frame, and many more (tests/dissect/test_common_frame.c compares both).
 *
 * Inline, because it is half of what most packets cost; link headers other than plain Ethernet are read in peek.c.
 */
#ifndef NETOBS_DISSECT_PEEK_H
#define NETOBS_DISSECT_PEEK_H

#include <pcap/dlt.h>

#include "dissect/header_fields.h"

/* In this order: with each kind at least as much is known as with those before, except that a datagram has no fields of
 * TCP. */
enum peek_kind {
	PEEK_NONE,    /* nothing is known but direction and loopback */
	PEEK_TUPLE,   /* only the flow tuple is known: source, destination, ports, protocol, version */
	PEEK_SEGMENT, /* a TCP segment with other flags or options; they may have an anomaly */
	PEEK_FIN,     /* like PEEK_TCP, with FIN */
	PEEK_TCP,     /* an ACK, with or without data, no option but timestamps; no SYN, FIN, RST */
	PEEK_UDP,     /* a datagram of no tunnel */
};

struct frame_peek {
	uint8_t src[16], dst[16]; /* IPv4: the first four bytes, the rest is not set; unicast, and src is specified */
	uint8_t timestamps[8];	  /* PEEK_TCP and PEEK_FIN, like all up to `window`: TSval and TSecr; 0 without them */
	bool has_timestamps;
	uint32_t seq, ack;
	uint16_t window;	  /* as on the wire, unscaled */
	uint16_t fragment_id;	  /* IPv4 identification, 0 for IPv6 */
	uint16_t sport, dport;	  /* host order */
	uint8_t protocol;	  /* 6, 17 or 132 */
	uint8_t version;	  /* 4 or 6 */
	uint8_t ttl;		  /* time to live or hop limit */
	uint8_t direction;	  /* enum direction */
	bool loopback;		  /* the link header says that the frame never left the host */
	uint32_t payload_wire;	  /* bytes of payload on the wire; from PEEK_SEGMENT on */
	const uint8_t *header;	  /* the TCP header, captured with all its options; from PEEK_SEGMENT to PEEK_TCP */
	struct slice payload;	  /* captured payload of a PEEK_UDP */
	uint16_t checksum;	  /* of a PEEK_UDP */
};

static inline struct slice
peek_tcp_header(const struct frame_peek *peek)
{
	return (struct slice){peek->header, TCP_HEADER_MIN};
}

/* Bytes of the TCP header of a PEEK_TCP or PEEK_FIN, options included. */
static inline uint8_t
peek_tcp_header_len(const struct frame_peek *peek)
{
	return peek->has_timestamps ? TCP_HEADER_MIN + 12 : TCP_HEADER_MIN;
}

/* TSval of a PEEK_TCP, 0 without timestamps. */
static inline uint32_t
peek_tsval(const struct frame_peek *peek)
{
	return slice_u32((struct slice){peek->timestamps, sizeof peek->timestamps}, 0);
}

/* TSecr, likewise. */
static inline uint32_t
peek_tsecr(const struct frame_peek *peek)
{
	return slice_u32((struct slice){peek->timestamps, sizeof peek->timestamps}, 4);
}

/* packet_send_stamp() of a PEEK_TCP.  Not a field, because only segments with data need it. */
static inline uint16_t
peek_send_stamp(const struct frame_peek *peek)
{
	struct slice timestamps = {peek->timestamps, sizeof peek->timestamps};

	if (peek->fragment_id != 0)
		return peek->fragment_id;
	return peek->has_timestamps ? send_stamp_from_timestamps(slice_u32(timestamps, 0), slice_u32(timestamps, 4),
								 peek->ack, peek->window) :
				      0;
}

/* The TCP options; only of PEEK_SEGMENT, PEEK_FIN and PEEK_TCP. */
static inline struct slice
peek_tcp_options(const struct frame_peek *peek)
{
	uint32_t length = slice_u8(peek_tcp_header(peek), 12) / 16u * 4 - TCP_HEADER_MIN;

	return length != 0 ? (struct slice){peek->header + TCP_HEADER_MIN, length} : (struct slice){NULL, 0};
}

enum { IPV4_SRC_MIN = 0x01000000 }; /* RFC 1122 section 3.2.1.3: no source is in 0.0.0.0/8 */

/* A TCP segment that is neither PEEK_TCP nor PEEK_FIN; the cursor is after its fixed header. */
static inline enum peek_kind
peek_segment(struct frame_peek *peek, struct cursor *c)
{
	uint32_t length = slice_u8(peek_tcp_header(peek), 12) / 16u * 4;

	if (length < TCP_HEADER_MIN || !cursor_skip(c, length - TCP_HEADER_MIN))
		return PEEK_TUPLE;
	peek->payload_wire = c->wire;
	return PEEK_SEGMENT;
}

static inline enum peek_kind
peek_tcp(struct frame_peek *peek, struct cursor *c)
{
	struct slice fixed, options;
	uint8_t offset, flags;

	if (!cursor_take(c, TCP_HEADER_MIN, &fixed))
		return PEEK_NONE;
	peek->header = fixed.at;
	peek->sport = slice_u16(fixed, 0);
	peek->dport = slice_u16(fixed, 2);
	offset = slice_u8(fixed, 12);
	flags = slice_u8(fixed, 13);
	if ((flags & (TCP_SYN | TCP_RST | TCP_ACK)) != TCP_ACK || peek->sport == 0 || peek->dport == 0)
		return peek_segment(peek, c);
	if (offset == 0x80) {
		if (!cursor_peek(c, 12, &options) || slice_u32(options, 0) != TCP_TIMESTAMPS_ONLY)
			return peek_segment(peek, c);
		(void)cursor_skip(c, 12);
		slice_copy(options, 4, peek->timestamps, sizeof peek->timestamps);
		peek->has_timestamps = true;
	} else if (offset == 0x50) {
		memset(peek->timestamps, 0, sizeof peek->timestamps);
		peek->has_timestamps = false;
	} else {
		return peek_segment(peek, c);
	}
	peek->seq = slice_u32(fixed, 4);
	peek->ack = slice_u32(fixed, 8);
	peek->window = slice_u16(fixed, 14);
	peek->payload_wire = c->wire;
	return (flags & TCP_FIN) != 0 ? PEEK_FIN : PEEK_TCP;
}

static inline enum peek_kind
peek_udp(struct frame_peek *peek, struct cursor *c)
{
	struct slice header;

	if (!cursor_take(c, UDP_HEADER_LEN, &header))
		return PEEK_NONE;
	peek->sport = slice_u16(header, 0);
	peek->dport = slice_u16(header, 2);
	peek->payload_wire = c->wire;
	if (slice_u16(header, 4) != c->wire + UDP_HEADER_LEN || peek->dport == 0 || udp_port_is_tunnel(peek->dport))
		return PEEK_TUPLE;
	peek->payload = cursor_captured_slice(c);
	peek->checksum = slice_u16(header, 6);
	return PEEK_UDP;
}

static inline enum peek_kind
peek_sctp(struct frame_peek *peek, struct cursor *c)
{
	struct slice header;

	if (!cursor_take(c, SCTP_HEADER, &header))
		return PEEK_NONE;
	peek->sport = slice_u16(header, 0);
	peek->dport = slice_u16(header, 2);
	return PEEK_TUPLE;
}

static inline enum peek_kind
peek_transport(struct frame_peek *peek, struct cursor *c)
{
	if (peek->protocol == PROTOCOL_TCP)
		return peek_tcp(peek, c);
	if (peek->protocol == PROTOCOL_UDP)
		return peek_udp(peek, c);
	return peek->protocol == PROTOCOL_SCTP ? peek_sctp(peek, c) : PEEK_NONE;
}

static inline bool
peek_ipv4(struct frame_peek *peek, struct cursor *c)
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
	slice_copy(fixed, 12, peek->src, 4);
	slice_copy(fixed, 16, peek->dst, 4);
	peek->version = 4;
	peek->fragment_id = slice_u16(fixed, 4);
	peek->ttl = slice_u8(fixed, 8);
	peek->protocol = slice_u8(fixed, 9);
	cursor_limit(c, length - IPV4_HEADER_MIN);
	return true;
}

static inline bool
peek_ipv6(struct frame_peek *peek, struct cursor *c)
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
	slice_copy(fixed, 8, peek->src, sizeof peek->src);
	slice_copy(fixed, 24, peek->dst, sizeof peek->dst);
	peek->version = 6;
	peek->fragment_id = 0;
	peek->ttl = slice_u8(fixed, 7);
	peek->protocol = slice_u8(fixed, 6);
	cursor_limit(c, length);
	return true;
}

/* The part of a link header that the peek needs. */
struct peek_link {
	uint16_t type;	 /* EtherType after all tags, 0 without one */
	uint16_t length; /* length with all tags */
};

/* Reads the link header of any link type, VLAN tags included; sets direction and loopback. */
struct peek_link peek_read_link(struct frame_peek *peek, const struct frame *frame);

/* Whether the checksum of a PEEK_FIN without data is right. */
bool peek_sum_is_right(const struct frame_peek *peek);

/* From PEEK_SEGMENT on: records in `packet` what the flow table and the locality of the packet depend on, as
 * dissect_frame() does. */
void peek_record_packet(struct packet *packet, const struct frame *frame, const struct frame_peek *peek,
			enum peek_kind kind);

/* Reads a frame of any link type.  Sets what the result names, and direction and loopback in any case. */
static inline enum peek_kind
peek_frame(struct frame_peek *peek, const struct frame *frame)
{
	struct cursor c = cursor_init(frame->data, frame->caplen, frame->len);
	struct slice header;
	uint16_t type = 0;

	peek->direction = DIRECTION_UNKNOWN;
	peek->loopback = false;
	if (frame->dlt == DLT_EN10MB && cursor_take(&c, ETHER_HEADER_LEN, &header))
		type = slice_u16(header, 12);
	if (type != ETHER_IPV4 && type != ETHER_IPV6) {
		struct peek_link link = peek_read_link(peek, frame);

		c = cursor_init(frame->data, frame->caplen, frame->len);
		cursor_skip(&c, link.length);
		type = link.type;
	}
	if (!(type == ETHER_IPV4 ? peek_ipv4(peek, &c) : type == ETHER_IPV6 && peek_ipv6(peek, &c)))
		return PEEK_NONE;
	return peek_transport(peek, &c);
}

#endif
