/* SPDX-License-Identifier: BSD-2-Clause */
/* Header fields that more than one parser reads: the layers, the common frame (common_frame.c) and the peek
 * (peek.h). */
#ifndef NETOBS_DISSECT_HEADER_FIELDS_H
#define NETOBS_DISSECT_HEADER_FIELDS_H

#include "dissect/layers.h"

enum { ETHER_HEADER_LEN = 14, SLL_HEADER = 16, SLL2_HEADER = 20, NULL_HEADER = 4, VLAN_TAG = 4 };
enum { ETHER_TYPE_MIN = 0x600 }; /* IEEE 802.3 clause 3.2.6: smaller values are lengths */
enum { IPV4_HEADER_MIN = 20, IPV6_HEADER_LEN = 40, IPV6_FRAGMENT_HEADER_LEN = 8 };
enum { IPV4_MULTICAST_MIN = 0xe0000000 }; /* RFC 1112 */
enum { TCP_HEADER_MIN = 20, UDP_HEADER_LEN = 8, SCTP_HEADER = 12 };

/* DLT_RAW is 12 on Linux and 14 on OpenBSD; files contain LINKTYPE_RAW, 101, which libpcap maps to 12. */
enum { DLT_RAW_OPENBSD = 14, DLT_RAW_FILE = 101 };

enum { ARPHRD_LOOPBACK = 772, ARPHRD_NETLINK = 824 }; /* <linux/if_arp.h>: hardware types of a cooked header */
enum { TCP_TIMESTAMPS_ONLY = 0x0101080a };	      /* NOP NOP timestamps of length 10, RFC 7323 appendix A */

/* The packet type of a cooked header, as in <linux/if_packet.h>. */
static inline enum direction
cooked_packet_direction(uint16_t packet_type)
{
	switch (packet_type) {
	case 0: /* to this host */
	case 1: /* broadcast */
	case 2: /* multicast */
		return DIRECTION_IN;
	case 3:
		return DIRECTION_OTHER;
	case 4:
		return DIRECTION_OUT;
	default:
		return DIRECTION_UNKNOWN;
	}
}

/* BSD loopback (DLT_NULL, DLT_LOOP): the EtherType that stands for an address family of the capturing host, in its
 * byte order or, for LOOP, in network order; 0 if unknown.  AF_INET is 2 on every system; AF_INET6 differs. */
static inline uint16_t
null_ether_type(uint32_t family)
{
	if (family > 0xffff) /* written by a host of the other byte order */
		family = __builtin_bswap32(family);
	switch (family) {
	case 2:
		return ETHER_IPV4;
	case 10: /* Linux */
	case 23: /* Windows */
	case 24: /* NetBSD, OpenBSD */
	case 26: /* Solaris */
	case 28: /* FreeBSD */
	case 30: /* Darwin */
		return ETHER_IPV6;
	default:
		return 0;
	}
}

/* The types of IEEE 802.1Q and 802.1ad, and of tags before 802.1ad. */
static inline bool
ether_type_is_tag(uint16_t type)
{
	return type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD;
}

/* Extends the link header to the position of `c`, which becomes that of the payload. */
static inline void
packet_extend_link(struct packet *packet, const struct cursor *c)
{
	struct slice more = cursor_slice_between(&packet->payload, c), *header = &packet->ether.header;

	if (header->len == 0)
		*header = more;
	else
		header->len += more.len;
	packet_advance(packet, c);
}

static inline void
ether_record(struct packet *packet, struct slice header)
{
	struct ether_layer *ether = &packet->ether;

	ether->header = header;
	slice_copy(header, 0, ether->dst, sizeof ether->dst);
	slice_copy(header, 6, ether->src, sizeof ether->src);
	ether->type = slice_u16(header, 12);
	ether->present = 1;
}

/* One 64-bit store, because the flow key is read with one load: a load that spans two pending stores stalls until both
 * reach the cache. */
static inline void
ipv4_record_address(uint8_t to[16], struct slice address)
{
	uint8_t whole[16] = {0};

	slice_copy(address, 0, whole, 4);
	memcpy(to, whole, sizeof whole);
}

static inline void
ipv4_record(struct packet *packet, struct slice fixed)
{
	struct ip_layer *ip = &packet->ip;
	uint16_t fragment = slice_u16(fixed, 6);

	/* Field by field: for a compound literal gcc clears the whole structure first. */
	ip->header = fixed;
	ip->options = (struct slice){NULL, 0};
	ip->version = 4;
	ip->tos = slice_u8(fixed, 1);
	ip->total_length = slice_u16(fixed, 2);
	ip->length = slice_u16(fixed, 2);
	ip->payload_len = 0;
	ip->super_packet = false;
	ip->fragment_id = slice_u16(fixed, 4);
	ip->flags = (uint8_t)(fragment >> 13);
	ip->more_fragments = (fragment & 0x2000) != 0;
	ip->fragment_offset = fragment & 0x1fff;
	ip->fragment = (fragment & 0x3fff) != 0;
	ip->ttl = slice_u8(fixed, 8);
	ip->protocol = slice_u8(fixed, 9);
	ip->checksum = slice_u16(fixed, 10);
	ip->flow_label = 0;
	ip->payload_length = 0;
	ip->next_header = 0;
	ipv4_record_address(ip->src, slice_sub(fixed, 12, 4));
	ipv4_record_address(ip->dst, slice_sub(fixed, 16, 4));
	packet->network = NETWORK_IPV4;
}

/* slice_checksum() of a header without options, which is nearly every packet's.  Two folds suffice: a sum that would
 * need a third is not 0xffff either way. */
static inline uint32_t
ipv4_checksum_fixed(struct slice fixed)
{
	uint64_t sum = (uint64_t)slice_raw32(fixed, 0) + slice_raw32(fixed, 4) + slice_raw32(fixed, 8) +
		       slice_raw32(fixed, 12) + slice_raw32(fixed, 16);

	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	return (uint32_t)((sum & 0xffff) + (sum >> 16));
}

static inline void
ipv6_record(struct packet *packet, struct slice fixed)
{
	struct ip_layer *ip = &packet->ip;
	uint32_t first = slice_u32(fixed, 0);

	*ip = (struct ip_layer){
		.header = fixed,
		.version = 6,
		.tos = (uint8_t)(first >> 20),
		.flow_label = first & 0xfffff,
		.payload_length = slice_u16(fixed, 4),
		.length = slice_u16(fixed, 4) + IPV6_HEADER_LEN,
		.payload_len = slice_u16(fixed, 4),
		.next_header = slice_u8(fixed, 6),
		.protocol = slice_u8(fixed, 6),
		.ttl = slice_u8(fixed, 7),
	};
	slice_copy(fixed, 8, ip->src, sizeof ip->src);
	slice_copy(fixed, 24, ip->dst, sizeof ip->dst);
	packet->network = NETWORK_IPV6;
}

static inline void
tcp_record(struct tcp_layer *tcp, struct slice fixed)
{
	tcp->header = fixed;
	tcp->sport = slice_u16(fixed, 0);
	tcp->dport = slice_u16(fixed, 2);
	tcp->seq = slice_u32(fixed, 4);
	tcp->ack = slice_u32(fixed, 8);
	tcp->header_len = (uint8_t)((slice_u8(fixed, 12) >> 4) * 4);
	tcp->flags = slice_u8(fixed, 13);
	tcp->window = slice_u16(fixed, 14);
	tcp->checksum = slice_u16(fixed, 16);
	tcp->urgent = slice_u16(fixed, 18);
	tcp->options = 0;
	tcp->wscale = 0;
	tcp->mss = 0;
	tcp->sack_count = 0;
	tcp->tsval = tcp->tsecr = 0;
}

/* Flag combinations that only scanners send: no flag, SYN with FIN or RST, FIN with RST, and FIN, PSH or URG without
 * ACK. */
static inline bool
tcp_flags_are_impossible(uint8_t flags)
{
	uint8_t control = flags & (TCP_SYN | TCP_FIN | TCP_RST);

	if ((control & (control - 1)) != 0)
		return true;
	return (flags & (TCP_ACK | TCP_SYN | TCP_RST)) == 0;
}

static inline void
tcp_record_timestamps(struct tcp_layer *tcp, struct slice option)
{
	tcp->tsval = slice_u32(option, 2);
	tcp->tsecr = slice_u32(option, 6);
}

#endif
