/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the dissector: the layers, each handing on to the next.
 *
 * Every layer works on packet->payload: it takes its header from a copy of that cursor, and moves packet->payload
 * behind the header once the header held.  So packet->payload never carries an error and is always behind the last
 * header that held.
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
	PROTOCOL_SCTP = 132,
	PROTOCOL_MOBILITY = 135,
	PROTOCOL_UDPLITE = 136,
	PROTOCOL_MPLS = 137,
	PROTOCOL_HIP = 139,
	PROTOCOL_SHIM6 = 140,
};

/* Whether something was found for which IP discards the packet, or for which dissection ended. */
static inline bool
packet_dropped(const struct packet *packet)
{
	return packet->reason != ANOMALY_NONE && anomaly_gravity(packet->reason) >= GRAVITY_DROP;
}

/* Spends one layer of the budget.  False, and noted, when there is none left. */
static inline bool
packet_enter(struct packet *packet)
{
	if (__builtin_expect(packet->depth >= DISSECT_LAYER_BUDGET, 0)) {
		packet_note(packet, ANOMALY_LAYER_BUDGET);
		return false;
	}
	packet->depth++;
	return true;
}

/* The cursor for the next layer to take from.  Reading and writing it member by member matters: a copy of the whole
 * structure right after its members were written makes the processor wait for the writes. */
static inline struct cursor
packet_rest(const struct packet *packet)
{
	const struct cursor *from = &packet->payload;

	return (struct cursor){.at = from->at, .have = from->have, .wire = from->wire, .error = CURSOR_OK};
}

/* A layer held: what follows begins where `c` stands. */
static inline void
packet_advance(struct packet *packet, const struct cursor *c)
{
	packet->payload.at = c->at;
	packet->payload.have = c->have;
	packet->payload.wire = c->wire;
}

/* Notes why a cursor failed: cut by the capture, or never on the wire. */
static inline void
packet_note_failed(struct packet *packet, const struct cursor *c, enum anomaly truncated, enum anomaly malformed)
{
	packet_note(packet, c->error == CURSOR_TRUNCATED ? truncated : malformed);
}

/* link.c */
void packet_start(struct packet *packet, const struct frame *frame, struct cursor bytes);
void dissect_layers(const struct frame *frame, struct packet *packet); /* dissect_frame() without the usual path */
void dissect_ethertype(struct packet *packet, uint16_t type);

/* ethernet.c: a whole frame; what ether.type says, behind a link header; 802.2 LLC with SNAP. */
void dissect_ethernet(struct packet *packet);
void dissect_tags(struct packet *packet);
void dissect_llc(struct packet *packet);

/* cooked.c */
void dissect_sll(struct packet *packet);
void dissect_sll2(struct packet *packet);

/* mpls.c, pppoe.c */
void dissect_mpls(struct packet *packet);
void dissect_pppoe(struct packet *packet);

/* PPP protocol field (RFC 1661 section 2, RFC 1662 compression): gives the EtherType of what follows, 0 if it is not
 * a network packet.  False if the cursor failed. */
bool dissect_ppp_protocol(struct cursor *c, uint16_t *type);

/* arp.c */
void dissect_arp(struct packet *packet, bool reverse);

/* ip.c: version by the first nibble; what both versions judge alike. */
void dissect_ip(struct packet *packet);
void ip_judge_fragment(struct packet *packet, uint32_t length);

/* ipv4.c, ipv6.c */
void dissect_ipv4(struct packet *packet);
void dissect_ipv6(struct packet *packet);

/* extension.c: the chain of IPv6 extension headers, one step at a time.  Start with .next from the fixed header. */
struct extension_walk {
	uint8_t next;	       /* protocol of what the cursor stands on */
	uint8_t count;	       /* headers taken */
	bool fragment;	       /* the last header taken was that of a datagram in pieces: what follows is its data */
	bool has_jumbo;	       /* a jumbo payload option (RFC 2675) ... */
	uint32_t jumbo;	       /* ... and the length it says */
	bool routing_zero;     /* a routing header of type 0 (RFC 5095) */
	struct view home;      /* address of a home address option (RFC 6275), 16 bytes or none */
	struct view routing;   /* the last routing header that has segments left, or none */
	struct view piece;     /* the fragment header, or none */
};

enum extension_step {
	EXTENSION_END,	  /* what follows is no extension header */
	EXTENSION_TAKEN,  /* the cursor is behind one more header */
	EXTENSION_FAILED, /* the cursor failed, or else `*why` says what is wrong */
};

enum extension_step extension_step(struct extension_walk *walk, struct cursor *c, enum anomaly *why);

/* transport.c: what IP carries, by protocol number. */
void dissect_transport(struct packet *packet, uint8_t protocol);

/* icmp.c, icmpv6.c, quote.c */
void dissect_icmp(struct packet *packet);
void dissect_icmpv6(struct packet *packet);
bool icmp_take(struct packet *packet, struct view *header);
void dissect_quote(struct packet *packet);

/* udp.c, tcp.c, tcp_options.c, sctp.c */
void dissect_udp(struct packet *packet);
void dissect_tcp(struct packet *packet);
void dissect_tcp_options(struct packet *packet, struct view options);
void dissect_sctp(struct packet *packet);

/* tunnel.c, gre.c: what is inside, without going there. */
void dissect_gre(struct packet *packet);
void dissect_etherip(struct packet *packet);
void dissect_udp_tunnel(struct packet *packet);

enum { PORT_VXLAN = 4789, PORT_GENEVE = 6081 };

static inline bool
is_udp_tunnel(uint16_t dport)
{
	return dport == PORT_VXLAN || dport == PORT_GENEVE;
}
void packet_set_inner(struct packet *packet, struct cursor inside, uint16_t type);

#endif
