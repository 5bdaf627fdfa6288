/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the dissector's layers.  Each layer works on packet->payload: it takes its header from a copy
 * of that cursor and, if the header is valid, moves packet->payload past it; then it calls the next layer.
 * packet->payload therefore never carries an error and always starts after the last valid header.
 */
#ifndef NETOBS_DISSECT_LAYERS_H
#define NETOBS_DISSECT_LAYERS_H

#include "dissect/dissect.h"

/* EtherTypes (IEEE, IANA ethernet-numbers). */
enum ether_type {
	ETHER_IPV4 = 0x0800,
	ETHER_ARP = 0x0806,
	ETHER_BRIDGED = 0x6558, /* transparent Ethernet bridging, in GRE and Geneve */
	ETHER_RARP = 0x8035,
	ETHER_VLAN = 0x8100,	/* 802.1Q */
	ETHER_IPV6 = 0x86dd,
	ETHER_MPLS = 0x8847,
	ETHER_MPLS_UP = 0x8848, /* upstream-assigned label (RFC 5332) */
	ETHER_PPP = 0x880b,
	ETHER_PPPOE = 0x8864,	/* session stage */
	ETHER_QINQ = 0x88a8,	/* 802.1ad */
	ETHER_QINQ_OLD = 0x9100,
};

/* IP protocol numbers (IANA protocol-numbers). */
enum ip_protocol {
	PROTOCOL_HOP_BY_HOP = 0,
	PROTOCOL_ICMP = 1,
	PROTOCOL_IPV4 = 4,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_DCCP = 33,
	PROTOCOL_IPV6 = 41,
	PROTOCOL_ROUTING = 43,
	PROTOCOL_FRAGMENT = 44,
	PROTOCOL_GRE = 47,
	PROTOCOL_ESP = 50,
	PROTOCOL_AH = 51,
	PROTOCOL_ICMPV6 = 58,
	PROTOCOL_NO_NEXT = 59,
	PROTOCOL_DESTINATION = 60,
	PROTOCOL_ETHERIP = 97,
	PROTOCOL_IPCOMP = 108,
	PROTOCOL_L2TP = 115,
	PROTOCOL_SCTP = 132,
	PROTOCOL_MOBILITY = 135,
	PROTOCOL_UDPLITE = 136,
	PROTOCOL_MPLS = 137,
	PROTOCOL_HIP = 139,
	PROTOCOL_SHIM6 = 140,
};

/* Whether an anomaly makes IP discard the packet or ends the dissection. */
static inline bool
packet_is_dropped(const struct packet *packet)
{
	return packet->worst_anomaly != ANOMALY_NONE && anomaly_severity(packet->worst_anomaly) >= SEVERITY_DROP;
}

/* Takes one layer off the budget.  False, with an anomaly recorded, if the budget is spent. */
static inline bool
packet_enter_layer(struct packet *packet)
{
	if (__builtin_expect(packet->layers_spent >= DISSECT_LAYER_BUDGET, 0)) {
		packet_add_anomaly(packet, ANOMALY_LAYER_BUDGET);
		return false;
	}
	packet->layers_spent++;
	return true;
}

/* Cursor for the next layer.  The members are copied one by one: copying the whole structure right after its members
 * were written stalls on store forwarding. */
static inline struct cursor
packet_cursor(const struct packet *packet)
{
	const struct cursor *from = &packet->payload;

	return (struct cursor){.at = from->at, .captured = from->captured, .wire = from->wire, .error = CURSOR_OK};
}

/* The header is valid: moves packet->payload to the position of `c`. */
static inline void
packet_advance(struct packet *packet, const struct cursor *c)
{
	packet->payload.at = c->at;
	packet->payload.captured = c->captured;
	packet->payload.wire = c->wire;
}

/* Records why a cursor failed: the bytes were not captured, or were never on the wire. */
static inline void
packet_add_cursor_anomaly(struct packet *packet, const struct cursor *c, enum anomaly truncated, enum anomaly malformed)
{
	packet_add_anomaly(packet, c->error == CURSOR_TRUNCATED ? truncated : malformed);
}

/* common_frame.c: dissects an Ethernet frame of the common kind.  False if it is not; dissect_layers() must then start
 * from the beginning. */
bool dissect_common_frame(struct packet *packet, const struct frame *frame);

/* link.c */
void packet_init(struct packet *packet, const struct frame *frame, struct cursor bytes);
/* dissect_frame() without the common-frame path */
void dissect_layers(const struct frame *frame, struct packet *packet);
void dissect_ethertype(struct packet *packet, uint16_t type);

/* ethernet.c: a whole frame; dispatch on ether.type after a link header; 802.2 LLC with SNAP. */
void dissect_ethernet(struct packet *packet);
void dissect_vlan_tags(struct packet *packet);
void dissect_llc(struct packet *packet);

/* cooked.c */
void dissect_sll(struct packet *packet);
void dissect_sll2(struct packet *packet);

/* serial.c, pseudo.c: whole frames of further link types. */
void dissect_ppp(struct packet *packet);
void dissect_ppp_serial(struct packet *packet);
void dissect_ppp_pppd(struct packet *packet);
void dissect_ppp_with_dir(struct packet *packet);
void dissect_c_hdlc(struct packet *packet);
void dissect_c_hdlc_with_dir(struct packet *packet);
void dissect_frelay(struct packet *packet);
void dissect_frelay_with_dir(struct packet *packet);
void dissect_enc(struct packet *packet);
void dissect_ipnet(struct packet *packet);
void dissect_ipoib(struct packet *packet);
void dissect_ip_over_fc(struct packet *packet);
void dissect_nflog(struct packet *packet);

/* wlan.c */
void dissect_wlan(struct packet *packet);
void dissect_radiotap(struct packet *packet);
void dissect_prism(struct packet *packet);

/* ethernet.c */
void dissect_mpls(struct packet *packet);
void dissect_pppoe(struct packet *packet);

/* PPP protocol field (RFC 1661 section 2, RFC 1662 compression): sets `*type` to the EtherType of the payload, 0 if it
 * is not a network packet.  False if the cursor failed. */
bool dissect_ppp_protocol(struct cursor *c, uint16_t *type);

/* arp.c */
void dissect_arp(struct packet *packet, bool reverse);

/* ip.c: version detection by the first nibble, and the checks that both versions share. */
void dissect_ip(struct packet *packet);
bool ip_extend_cut_record(struct packet *packet, struct cursor *c, uint32_t length);
void ip_validate_fragment(struct packet *packet, uint32_t length);

/* ipv4.c, ipv6.c */
void dissect_ipv4(struct packet *packet);
void dissect_ipv6(struct packet *packet);

/* ipv6.c: iterates over the chain of IPv6 extension headers.  Initialise .next from the fixed header. */
struct ipv6_extension_walk {
	uint8_t next;		      /* protocol of the header at the cursor */
	uint8_t count;		      /* headers taken so far */
	bool fragment;		      /* the last header is a fragment header of a fragmented datagram: fragment data
				       * follows */
	bool has_jumbo;		      /* a jumbo payload option (RFC 2675) was found */
	uint32_t jumbo;		      /* length in the jumbo payload option */
	bool has_routing_type0;	      /* a routing header of type 0 (RFC 5095) */
	struct slice home_address;    /* address in a home address option (RFC 6275): 16 bytes, or empty */
	struct slice routing_header;  /* the last routing header with segments left, or empty */
	struct slice fragment_header; /* the fragment header, or empty */
};

enum ipv6_extension_result {
	EXTENSION_END,	  /* no further extension header */
	EXTENSION_TAKEN,  /* one more header was taken */
	EXTENSION_FAILED, /* the cursor failed, or `*why` is the anomaly */
};

enum ipv6_extension_result ipv6_extension_next(struct ipv6_extension_walk *walk, struct cursor *c, enum anomaly *why);

/* transport.c: dispatch on the IP protocol number. */
void dissect_transport(struct packet *packet, uint8_t protocol);

/* icmp.c */
void dissect_icmp(struct packet *packet);
void dissect_icmpv6(struct packet *packet);

void dissect_tcp(struct packet *packet);

/* Records the header of a TCP segment: its fixed part and the captured part of its options, whose length is valid. */
void dissect_tcp_header(struct packet *packet, struct slice fixed, struct slice options);
void dissect_sctp(struct packet *packet);
void dissect_dccp(struct packet *packet);

/* tunnel.c: record what a tunnel carries, without dissecting it. */
void dissect_gre(struct packet *packet);
void dissect_etherip(struct packet *packet);
void dissect_udp_tunnel(struct packet *packet);
void packet_set_inner(struct packet *packet, struct cursor inside, uint16_t type);

enum { PORT_VXLAN = 4789, PORT_GENEVE = 6081 };

static inline bool
udp_port_is_tunnel(uint16_t dport)
{
	return dport == PORT_VXLAN || dport == PORT_GENEVE;
}

#endif
