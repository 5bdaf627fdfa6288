/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A dissected frame: every valid header, in host order.  Plain data without allocation; slices point into the frame and
 * are valid as long as the frame is.  `network` and `transport` name the valid layers; a layer that is absent is
 * explained by `worst_anomaly`.  Of `ip` and the union only the layers that `network` and `transport` name are written;
 * the rest is uninitialised.
 */
#ifndef NETOBS_DISSECT_PACKET_H
#define NETOBS_DISSECT_PACKET_H

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "dissect/frame.h"

/* Direction of a frame according to the link layer (cooked captures); UNKNOWN elsewhere. */
enum direction {
	DIRECTION_UNKNOWN,
	DIRECTION_IN,	 /* to this host, unicast, broadcast or multicast */
	DIRECTION_OUT,	 /* from this host */
	DIRECTION_OTHER, /* between other hosts */
};

enum network_layer {
	NETWORK_NONE, /* neither IP nor ARP, or not whole */
	NETWORK_ARP,  /* ARP or RARP */
	NETWORK_IPV4,
	NETWORK_IPV6,
};

enum transport_layer {
	TRANSPORT_NONE, /* another protocol, a fragment, or not whole */
	TRANSPORT_TCP,
	TRANSPORT_UDP,
	TRANSPORT_ICMP,	  /* ICMP for IPv4 */
	TRANSPORT_ICMPV6, /* ICMP for IPv6 */
	TRANSPORT_SCTP,
	TRANSPORT_DCCP,
};

/* Result of verifying a transport or header checksum. */
enum checksum_verdict {
	CHECKSUM_UNVERIFIED, /* not checked: incomplete in the capture, a fragment, or no checksum (UDP 0) */
	CHECKSUM_OK,
	CHECKSUM_BAD,
	CHECKSUM_PARTIAL, /* only the pseudo header is summed: left to the interface (offload) */
};

/* The link header.  If the link type has no addresses they are zero, and header.len is the length of its header. */
struct ether_layer {
	struct slice header; /* whole link header, tags included */
	uint8_t dst[6], src[6];
	uint16_t type;	  /* EtherType after all tags; an 802.3 length is not a type (0) */
	bool tagged;	  /* 802.1Q or 802.1ad */
	uint8_t priority; /* 3 bits, outermost tag */
	uint8_t dei;	  /* 1 bit, outermost tag */
	uint16_t vlan;	  /* 12 bits, outermost tag */
	uint8_t present;  /* 1 if the addresses come from an Ethernet header */
};

/* RFC 826 and 903. */
struct arp_layer {
	uint16_t htype, ptype, op;
	uint8_t hlen, plen;
	struct slice sha, spa, tha, tpa; /* addresses as on the wire, hlen and plen bytes */
	bool reverse;			 /* RARP (EtherType 0x8035) */
};

/* IPv4 (RFC 791) and IPv6 (RFC 8200): the common fields, then the specific ones. */
struct ip_layer {
	struct slice header;	  /* fixed header, with IPv4 options, without IPv6 extension headers */
	struct slice options;	  /* IPv4 options or the IPv6 extension header chain */
	uint8_t src[16], dst[16]; /* network order; IPv4 in the first four bytes, the rest zero */
	uint32_t length;	  /* length of the whole packet including the header; for a super-packet the length of
				   * the frame's IP part */
	uint32_t payload_len;	  /* length without the fixed header and IPv4 options; IPv6 extension headers are
				   * included */
	uint8_t version;	  /* 4 or 6 */
	uint8_t protocol;	  /* protocol of the payload, after all IPv6 extension headers */
	uint8_t ttl;		  /* time to live or hop limit */
	uint8_t tos;		  /* type of service or traffic class */
	bool fragment;		  /* part of a fragmented datagram */
	bool more_fragments;	  /* MF */
	bool super_packet;	  /* larger than the length field allows (segmentation offload, BIG TCP) */
	uint32_t fragment_id;	  /* identification: 16 bits in IPv4, 32 in an IPv6 fragment header, 0 without one */
	uint16_t fragment_offset; /* in 8-byte units */
	/* IPv4 */
	uint16_t total_length; /* as on the wire */
	uint16_t checksum;
	uint8_t flags; /* 3 bits: DF = 2, MF = 1 */
	/* IPv6 */
	uint32_t flow_label;	 /* 20 bits */
	uint16_t payload_length; /* as on the wire */
	uint8_t next_header;	 /* as in the fixed header */
};

/* Flags of RFC 9293 section 3.1 as in the header's 14th byte. */
enum tcp_flag {
	TCP_FIN = 0x01,
	TCP_SYN = 0x02,
	TCP_RST = 0x04,
	TCP_PSH = 0x08,
	TCP_ACK = 0x10,
	TCP_URG = 0x20,
	TCP_ECE = 0x40,
	TCP_CWR = 0x80,
};

/* Options of the segment, as bits of tcp_layer.options. */
enum tcp_option {
	TCP_OPTION_MSS = 0x01,
	TCP_OPTION_WSCALE = 0x02,
	TCP_OPTION_SACK_PERMITTED = 0x04,
	TCP_OPTION_SACK = 0x08,
	TCP_OPTION_TIMESTAMPS = 0x10,
	TCP_OPTION_FAST_OPEN = 0x20,
	TCP_OPTION_MD5 = 0x40,
	TCP_OPTION_AO = 0x80,
};

struct tcp_layer {
	struct slice header; /* header with options, as far as captured */
	uint32_t seq, ack;
	uint16_t sport, dport;
	uint16_t window; /* as on the wire, unscaled */
	uint16_t checksum, urgent;
	uint8_t header_len;    /* header length in bytes */
	uint8_t flags;	       /* enum tcp_flag bits */
	uint8_t options;       /* enum tcp_option bits */
	uint8_t wscale;	       /* shift, at most 14 (RFC 7323 section 2.3); only with TCP_OPTION_WSCALE */
	uint16_t mss;	       /* only with TCP_OPTION_MSS */
	uint8_t sack_count;    /* blocks in sack[], at most 4 */
	uint32_t tsval, tsecr; /* only with TCP_OPTION_TIMESTAMPS */
	uint32_t sack[4][2];   /* left and right edges; only the first `sack_count` are set */
};

struct udp_layer {
	struct slice header;
	uint16_t sport, dport;
	uint16_t length; /* as on the wire; 0 in a super-packet */
	uint16_t checksum;
};

/* ICMP (RFC 792, 950, 1191, 1256, 4884) and ICMPv6 (RFC 4443, 4861). */
struct icmp_layer {
	struct slice header; /* first 8 bytes, or 4 if the message is shorter */
	uint8_t type, code;
	uint16_t checksum;
	bool error;		    /* an error message, which quotes a packet */
	uint16_t echo_id, echo_seq; /* echo and timestamp messages */
	uint32_t mtu;		    /* fragmentation needed, packet too big */
	uint32_t pointer;	    /* parameter problem */
	uint8_t gateway[16];	    /* redirect: IPv4 in the first four bytes */
	uint8_t target[16];	    /* neighbour discovery: target address */
	bool has_gateway, has_target;
	/* The packet that an error quotes; version 0 if it is unreadable. */
	struct {
		struct slice header; /* its IP header */
		uint8_t version, protocol;
		uint8_t src[16], dst[16];
		bool has_ports; /* the quote includes the ports (first four bytes of its payload) */
		bool has_seq;	/* TCP: the quote includes the sequence number */
		uint16_t sport, dport;
		uint32_t seq;
	} quote;
};

struct sctp_layer {
	struct slice header;
	uint16_t sport, dport;
	uint32_t verification_tag;
	uint32_t checksum;
	struct slice chunks;  /* those that are parsed, as captured */
	uint32_t chunks_wire; /* their length on the wire */
	uint8_t first_chunk; /* type */
	uint16_t chunk_count;
};

/* Packet types of RFC 4340 section 5.1; those above are reserved. */
enum dccp_type {
	DCCP_REQUEST,
	DCCP_RESPONSE,
	DCCP_DATA,
	DCCP_ACK,
	DCCP_DATA_ACK,
	DCCP_CLOSE_REQ,
	DCCP_CLOSE,
	DCCP_RESET,
	DCCP_SYNC,
	DCCP_SYNC_ACK,
};

struct dccp_layer {
	struct slice header; /* header with options, as far as captured */
	uint64_t seq, ack;   /* 48 bits, or 24 unless `extended` */
	uint32_t service;    /* Request and Response: service code */
	uint16_t sport, dport;
	uint16_t header_len; /* data offset, in bytes */
	uint16_t checksum;
	uint8_t type;	     /* enum dccp_type, or a reserved one, at most 15 */
	uint8_t ccval;	     /* 4 bits, for the sender's congestion control */
	uint8_t coverage;    /* 4 bits: 0 the checksum covers all data, else the first 4 * (coverage - 1) bytes */
	uint8_t reset_code;  /* Reset only */
	bool extended;	     /* X: sequence numbers of 48 bits */
	bool has_ack;
};

/* Kind of packet inside a tunnel. */
enum inner_layer {
	INNER_NONE,
	INNER_IP,	/* an IP packet; the version is in its first nibble */
	INNER_ETHERNET, /* a frame */
};

struct packet {
	const struct frame *frame;
	enum direction direction;
	bool loopback;	      /* according to the link header the frame never left the host */
	bool tunnelled;	      /* a packet inside a tunnel */
	uint32_t ifindex;     /* interface index in the cooked header (SLL2), 0 elsewhere */
	enum network_layer network;
	enum transport_layer transport;
	enum anomaly worst_anomaly;   /* the most severe anomaly, ANOMALY_NONE if there is none */
	struct anomaly_set anomalies; /* all anomalies of the packet */
	uint8_t layers_spent;	      /* layers taken off the budget, tunnels included */
	uint8_t tunnels;	      /* tunnels around the packet */
	struct ether_layer ether;
	struct ip_layer ip;
	union {
		struct arp_layer arp;
		struct tcp_layer tcp;
		struct udp_layer udp;
		struct icmp_layer icmp;
		struct sctp_layer sctp;
		struct dccp_layer dccp;
	};
	struct cursor datagram;	/* with an IP layer: the IP payload from the transport header on, after all extension
				 * headers */
	struct cursor payload;	/* after the last valid header */
	uint32_t payload_wire;	/* bytes on the wire after the transport header; 0 without a transport layer */
	enum inner_layer inner; /* kind of the payload if it is a tunnel's */
	uint16_t inner_type;	/* for INNER_IP: the EtherType (IP or MPLS); 0: decided by the first nibble */
	uint32_t inner_id;	/* of a tunnel (not INNER_NONE): VNI or GRE key, 0 without one */
};

/* A send stamp from timestamps advances by this much with each tick; the bits below only tell two segments of one tick
 * apart. */
#define SEND_STAMP_TICK 16u

static inline uint16_t
send_stamp_from_timestamps(uint32_t tsval, uint32_t tsecr, uint32_t ack, uint16_t window)
{
	return (uint16_t)(tsval * SEND_STAMP_TICK | (tsecr + (ack >> 3) + window) % SEND_STAMP_TICK);
}

/* The send stamp of a TCP segment: 16 bits that order the transmissions of its sender.  The IPv4 identification, which
 * most senders count up, or else the low bits of TSval; 0 if the packet has neither. */
static inline uint16_t
packet_send_stamp(const struct packet *packet)
{
	const struct tcp_layer *t = &packet->tcp;

	if (packet->ip.version == 4 && (uint16_t)packet->ip.fragment_id != 0)
		return (uint16_t)packet->ip.fragment_id;
	return (t->options & TCP_OPTION_TIMESTAMPS) != 0 ?
		       send_stamp_from_timestamps(t->tsval, t->tsecr, t->ack, t->window) :
		       0;
}

/* Records an anomaly.  The most severe one becomes worst_anomaly, the first among equals. */
static inline void
packet_add_anomaly(struct packet *packet, enum anomaly a)
{
	anomaly_add(&packet->anomalies, a);
	if (packet->worst_anomaly == ANOMALY_NONE || anomaly_severity(a) > anomaly_severity(packet->worst_anomaly))
		packet->worst_anomaly = a;
}

#endif
