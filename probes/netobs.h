/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobs.h - what the arguments of the netobs probes point to.
 *
 * For programs and scripts that trace netobsd.  In bpftrace:
 *
 *	bpftrace --include /usr/include/netobs.h -e '
 *	    usdt:/usr/sbin/netobsd:netobs:tcp__receive { @[((struct tcpinfo *)arg4)->tcp_dport] = count(); }'
 *
 * The layout is an ABI: integers of fixed width and naturally aligned, no hidden padding, text inline and always ended
 * by a NUL, the same on every architecture.  New fields come only at the end of a struct.  Integers are in host order,
 * except ipv4_src and ipv4_dst, which are as on the wire.  What cannot be known from the captured frames is -1 in ids
 * and in other fields that say so, 0 in counters and header fields, "<unknown>" in text.  Times are packet times,
 * in nanoseconds since the epoch.  netobs(7) describes every field in full.
 *
 * This file includes nothing and declares no function: bpftrace 0.17 finds no system header from a file that is given
 * with --include, and bcc brings types of its own that clash with <stdint.h>.
 */
#ifndef NETOBS_H
#define NETOBS_H

/* Increased when a struct gets new fields at its end; 1 is the first release. */
#define NETOBS_ABI_VERSION 1

typedef __UINT8_TYPE__ netobs_u8;   /* uint8_t */
typedef __UINT16_TYPE__ netobs_u16; /* uint16_t */
typedef __UINT32_TYPE__ netobs_u32; /* uint32_t */
typedef __UINT64_TYPE__ netobs_u64; /* uint64_t */
typedef __INT8_TYPE__ netobs_i8;    /* int8_t */
typedef __INT32_TYPE__ netobs_i32;  /* int32_t */
typedef __INT64_TYPE__ netobs_i64;  /* int64_t */

/* uint32_t in network byte order: the bytes of an IPv4 address. */
typedef __UINT32_TYPE__ netobs_be32;

/* An address in netobsd's memory, 0 for none.  Always 64 bits wide, so that a tracer need not know netobsd's
 * architecture. */
typedef __UINT64_TYPE__ netobs_ptr;

/* tcps_state: the numbers are Linux's. */
enum netobs_tcp_state {
	NETOBS_TCP_ESTABLISHED = 1,
	NETOBS_TCP_SYN_SENT = 2,
	NETOBS_TCP_SYN_RECEIVED = 3,
	NETOBS_TCP_FIN_WAIT_1 = 4,
	NETOBS_TCP_FIN_WAIT_2 = 5,
	NETOBS_TCP_TIME_WAIT = 6,
	NETOBS_TCP_CLOSED = 7,
	NETOBS_TCP_CLOSE_WAIT = 8,
	NETOBS_TCP_LAST_ACK = 9,
	NETOBS_TCP_LISTEN = 10,
	NETOBS_TCP_CLOSING = 11
};

/* tcp_flags, cr_client_flags, cr_server_flags: RFC 9293 section 3.1 and RFC 3168. */
enum netobs_tcp_flag {
	NETOBS_TH_FIN = 0x01,
	NETOBS_TH_SYN = 0x02,
	NETOBS_TH_RST = 0x04,
	NETOBS_TH_PSH = 0x08,
	NETOBS_TH_ACK = 0x10,
	NETOBS_TH_URG = 0x20,
	NETOBS_TH_ECE = 0x40,
	NETOBS_TH_CWR = 0x80
};

/* tcpr_kind: the cause of a retransmission. */
enum netobs_retransmit_kind {
	NETOBS_RETRANSMIT_FAST = 1,     /* caused by an ACK: duplicate, SACK, or after a timeout */
	NETOBS_RETRANSMIT_TIMEOUT = 2,  /* the retransmission timer (RFC 6298) */
	NETOBS_RETRANSMIT_PROBE = 3,    /* tail-loss probe (RFC 8985) */
	NETOBS_RETRANSMIT_SPURIOUS = 4, /* the peer had acknowledged it already */
	NETOBS_RETRANSMIT_SYN = 5       /* SYN or SYN,ACK */
};

/* sctps_state: the numbers are Linux's (<linux/sctp.h>), the states those of RFC 9260 section 4. */
enum netobs_sctp_state {
	NETOBS_SCTP_CLOSED = 1,
	NETOBS_SCTP_COOKIE_WAIT = 2,
	NETOBS_SCTP_COOKIE_ECHOED = 3,
	NETOBS_SCTP_ESTABLISHED = 4,
	NETOBS_SCTP_SHUTDOWN_PENDING = 5,
	NETOBS_SCTP_SHUTDOWN_SENT = 6,
	NETOBS_SCTP_SHUTDOWN_RECEIVED = 7,
	NETOBS_SCTP_SHUTDOWN_ACK_SENT = 8
};

/* dccp_type: RFC 4340 section 5.1; 10 to 15 are reserved. */
enum netobs_dccp_type {
	NETOBS_DCCP_REQUEST = 0,
	NETOBS_DCCP_RESPONSE = 1,
	NETOBS_DCCP_DATA = 2,
	NETOBS_DCCP_ACK = 3,
	NETOBS_DCCP_DATA_ACK = 4,
	NETOBS_DCCP_CLOSE_REQ = 5,
	NETOBS_DCCP_CLOSE = 6,
	NETOBS_DCCP_RESET = 7,
	NETOBS_DCCP_SYNC = 8,
	NETOBS_DCCP_SYNC_ACK = 9
};

/* ii_flags: what the second byte of a PDU means depends on its probe (RFC 7143 section 11). */
enum netobs_iscsi_flag {
	NETOBS_ISCSI_FINAL = 0x80,          /* last PDU of its sequence; login: on to the next stage */
	NETOBS_ISCSI_CONTINUE = 0x40,       /* login, text: the text goes on in the next PDU */
	NETOBS_ISCSI_CURRENT_STAGE = 0x0c,  /* login: 0 security, 1 operational, 3 full feature; in bits 2 and 3 */
	NETOBS_ISCSI_NEXT_STAGE = 0x03,     /* login: the next stage, likewise */
	NETOBS_ISCSI_READ = 0x40,           /* scsi-command: data is to come from the target */
	NETOBS_ISCSI_WRITE = 0x20,          /* scsi-command: data is to go to the target */
	NETOBS_ISCSI_ATTRIBUTE = 0x07,      /* scsi-command: 0 untagged, 1 simple, 2 ordered, 3 head of queue, 4 ACA */
	NETOBS_ISCSI_ACKNOWLEDGE = 0x40,    /* data-send: the initiator is to acknowledge */
	NETOBS_ISCSI_OVERFLOW = 0x04,       /* scsi-response, data-send: more bytes than expected should have been
					     * transferred */
	NETOBS_ISCSI_UNDERFLOW = 0x02,      /* scsi-response, data-send: fewer bytes than expected were transferred */
	NETOBS_ISCSI_STATUS = 0x01,         /* data-send: the command is done, ii_status is its status */
	NETOBS_ISCSI_FUNCTION = 0x7f,       /* task-command: 1 abort task, 5 logical unit reset, ... (section 11.5.1) */
	NETOBS_ISCSI_REASON = 0x7f          /* logout-command: 0 session, 1 connection, 2 recovery */
};

/* The packet: its id and its frame. */
struct pktinfo {
	netobs_u64 pkt_addr;   /* packet id: unique and rising in one run, the same in all probes of a packet */
	netobs_u64 pkt_ts;     /* time stamp of the frame, ns since the epoch */
	netobs_u32 pkt_len;    /* bytes of the frame on the wire, link header included */
	netobs_u32 pkt_caplen; /* bytes of the frame in the capture */
	netobs_ptr pkt_data;   /* first of the captured bytes, pkt_caplen of them */
	netobs_u32 pkt_link;   /* link type of the frame, a DLT_ number of libpcap */
	char pkt_csum[12];     /* checksum: "ok", "bad", "partial" (left to the interface), "unverified" */
	char pkt_reason[32];   /* name of the packet's anomaly; "" if none */
	netobs_u64 pkt_seq;    /* number of this firing since the probe was enabled, from 1; a gap: missed firings */
};

/* One endpoint of a connection. */
struct csinfo {
	netobs_u64 cs_addr;   /* opaque identity of the connection state: equal means same endpoint */
	netobs_u64 cs_cid;    /* connection id of this endpoint: never reused in a run */
	netobs_i32 cs_pid;    /* process that owns the endpoint; -1 unknown */
	netobs_u8 cs_pad[4];  /* padding */
	netobs_i64 cs_zoneid; /* inode of the endpoint's network namespace; -1 unknown */
	netobs_u64 cs_ts;     /* time of this event, ns since the epoch */
	netobs_u64 cs_seq;    /* as pkt_seq, for probes without pktinfo_t */
	char cs_comm[16];     /* command name of cs_pid; "<unknown>", also if it is empty */
};

/* The IP packet, for IPv4 and IPv6 alike. */
struct ipinfo {
	netobs_u8 ip_ver;      /* 4 or 6 */
	netobs_u8 ip_pad[3];   /* padding */
	netobs_u32 ip_plength; /* payload bytes; IPv6 extension headers count; the real size of a super-packet */
	char ip_saddr[46];     /* source address, text (RFC 5952) */
	char ip_daddr[46];     /* destination address, text (RFC 5952) */
};

/* The interface.  ifinfo_t is the same struct under the name that Solaris shipped. */
struct illinfo {
	char if_name[16];      /* interface name, as the kernel or the capture file has it; "<unknown>" */
	netobs_i8 if_local;    /* 1 loopback, 0 not */
	netobs_u8 if_pad[7];   /* padding */
	netobs_u64 if_ipstack; /* inode of the interface's network namespace; 0 unknown (files) */
	netobs_u64 if_addr;    /* interface index; 0 unknown (files) */
};

/* illinfo_t under the name that Solaris shipped. */
struct ifinfo {
	char if_name[16];      /* interface name, as the kernel or the capture file has it; "<unknown>" */
	netobs_i8 if_local;    /* 1 loopback, 0 not */
	netobs_u8 if_pad[7];   /* padding */
	netobs_u64 if_ipstack; /* inode of the interface's network namespace; 0 unknown (files) */
	netobs_u64 if_addr;    /* interface index; 0 unknown (files) */
};

/* The link header: IEEE 802.3 and 802.1Q.  All zero if the link type has none. */
struct etherinfo {
	netobs_u8 eth_dst[6];    /* destination address, bytes */
	netobs_u8 eth_src[6];    /* source address, bytes */
	netobs_u16 eth_type;     /* EtherType after all tags; 0 in an 802.3 frame with a length */
	netobs_u8 eth_istagged;  /* 1 with an 802.1Q or 802.1ad tag */
	netobs_u8 eth_priority;  /* priority of the outermost tag, 3 bits */
	netobs_u8 eth_dei;       /* drop eligible indicator of the outermost tag, 1 bit */
	netobs_u8 eth_pad0[1];   /* padding */
	netobs_u16 eth_vlanid;   /* VLAN id of the outermost tag, 12 bits */
	netobs_u8 eth_pad1[4];   /* padding */
	netobs_ptr eth_header;   /* first byte of the link header */
	char eth_shost[18];      /* source address, text: 00:00:5e:00:53:01; "<unknown>" */
	char eth_dhost[18];      /* destination address, text */
	netobs_u32 eth_length;   /* bytes of the frame on the wire */
};

/* ARP (RFC 826) and RARP (RFC 903). */
struct arpinfo {
	netobs_u16 arp_htype; /* hardware type: 1 Ethernet */
	netobs_u16 arp_ptype; /* protocol type, an EtherType: 0x0800 IPv4 */
	netobs_u8 arp_hlen;   /* bytes of a hardware address */
	netobs_u8 arp_plen;   /* bytes of a protocol address */
	netobs_u16 arp_op;    /* operation: 1 request, 2 reply, 3 and 4 those of RARP */
	char arp_opstr[20];   /* operation in words; "probe", "announcement", "gratuitous-reply" too (RFC 5227) */
	char arp_sha[18];     /* sender's hardware address, text; "<unknown>" if it is not 6 bytes */
	char arp_tha[18];     /* target's hardware address, text; "<unknown>" if it is not 6 bytes */
	char arp_spa[16];     /* sender's protocol address, text; "<unknown>" if it is not IPv4 */
	char arp_tpa[16];     /* target's protocol address, text; "<unknown>" if it is not IPv4 */
};

/* The IPv4 header (RFC 791). */
struct ipv4info {
	netobs_u8 ipv4_ver;       /* 4 */
	netobs_u8 ipv4_ihl;       /* header length in bytes, options included */
	netobs_u8 ipv4_tos;       /* type of service: DSCP and ECN */
	netobs_u8 ipv4_pad0[1];   /* padding */
	netobs_u16 ipv4_length;   /* total length, bytes, as on the wire: 0 in a packet over 64 KiB, see ip_plength */
	netobs_u16 ipv4_ident;    /* identification */
	netobs_u8 ipv4_flags;     /* the 3-bit field: DF = 2, MF = 1 */
	netobs_u8 ipv4_pad1[1];   /* padding */
	netobs_u16 ipv4_offset;   /* fragment offset in units of 8 bytes, 13 bits */
	netobs_u8 ipv4_ttl;       /* time to live */
	netobs_u8 ipv4_protocol;  /* protocol of the payload, an IANA number */
	char ipv4_protostr[16];   /* protocol in words: "TCP"; "<unknown>" */
	netobs_u16 ipv4_checksum; /* header checksum, as on the wire */
	netobs_be32 ipv4_src;     /* source address, network byte order */
	netobs_be32 ipv4_dst;     /* destination address, network byte order */
	char ipv4_saddr[16];      /* source address, text */
	char ipv4_daddr[16];      /* destination address, text */
	netobs_ptr ipv4_hdr;      /* first byte of the header */
};

/* The IPv6 header (RFC 8200). */
struct ipv6info {
	netobs_u8 ipv6_ver;     /* 6 */
	netobs_u8 ipv6_tclass;  /* traffic class: DSCP and ECN */
	netobs_u8 ipv6_pad0[2]; /* padding */
	netobs_u32 ipv6_flow;   /* flow label, 20 bits */
	netobs_u16 ipv6_plen;   /* payload length, bytes, as on the wire: 0 in a jumbogram, see ip_plength */
	netobs_u8 ipv6_nexthdr; /* next header of the fixed header: an extension or the payload's protocol */
	char ipv6_nextstr[16];  /* next header in words: "TCP"; "<unknown>" */
	netobs_u8 ipv6_hlim;    /* hop limit */
	netobs_u8 ipv6_pad1[4]; /* padding */
	netobs_ptr ipv6_src;    /* the 16 bytes of the source address */
	netobs_ptr ipv6_dst;    /* the 16 bytes of the destination address */
	char ipv6_saddr[46];    /* source address, text (RFC 5952) */
	char ipv6_daddr[46];    /* destination address, text (RFC 5952) */
	netobs_u8 ipv6_pad2[4]; /* padding */
	netobs_ptr ipv6_hdr;    /* first byte of the fixed header */
};

/* ICMP (RFC 792) and ICMPv6 (RFC 4443, 4861).  A field that a message does not have is 0 or "". */
struct icmpinfo {
	netobs_u8 icmp_version;            /* 4 ICMP, 6 ICMPv6 */
	netobs_u8 icmp_type;               /* type */
	netobs_u8 icmp_code;               /* code */
	netobs_u8 icmp_pad0[1];            /* padding */
	netobs_u16 icmp_checksum;          /* checksum, as on the wire */
	netobs_u16 icmp_echo_id;           /* echo and timestamp: identifier */
	netobs_u16 icmp_echo_seq;          /* echo and timestamp: sequence number */
	netobs_u8 icmp_pad1[2];            /* padding */
	netobs_u32 icmp_pmtu_update;       /* packet too big: MTU of the next hop, bytes (RFC 1191, 8201) */
	char icmp_redirect_gateway[46];    /* redirect: better first hop, text; else "" */
	netobs_u8 icmp_pad2[2];            /* padding */
	netobs_u32 icmp_param_problem_ptr; /* parameter problem: offset of the offending byte, bytes */
	netobs_u16 icmp_error_sport;       /* error: source port of the quoted packet */
	netobs_u16 icmp_error_dport;       /* error: destination port of the quoted packet */
	netobs_ptr icmp_error_ip_hdr;      /* error: quoted IPv4 header */
	netobs_ptr icmp_error_ip6_hdr;     /* error: quoted IPv6 header */
	char icmp6_nd_target[46];          /* neighbour discovery: target address, text (RFC 4861); else "" */
	netobs_u8 icmp_pad3[2];            /* padding */
	netobs_ptr icmp_hdr;               /* first byte of the header */
	char icmp_typestr[32];             /* type in words; "<unknown>" */
	char icmp_codestr[32];             /* code in words, "" if the type has only one; "<unknown>" */
	char icmp_error_saddr[46];         /* error: source address of the quoted packet, text; else "" */
	char icmp_error_daddr[46];         /* error: destination address of the quoted packet, text; else "" */
	netobs_u8 icmp_error_protocol;     /* error: protocol of the quoted packet, an IANA number */
	netobs_u8 icmp_pad4[3];            /* padding */
};

/* The TCP header (RFC 9293 section 3.1). */
struct tcpinfo {
	netobs_u16 tcp_sport;    /* source port */
	netobs_u16 tcp_dport;    /* destination port */
	netobs_u32 tcp_seq;      /* sequence number */
	netobs_u32 tcp_ack;      /* acknowledgement number, as on the wire even without ACK */
	netobs_u8 tcp_offset;    /* header length in bytes, options included */
	netobs_u8 tcp_flags;     /* NETOBS_TH_ bits */
	netobs_u16 tcp_window;   /* window, as on the wire: unscaled */
	netobs_u16 tcp_checksum; /* checksum, as on the wire */
	netobs_u16 tcp_urgent;   /* urgent pointer, as on the wire even without URG */
	netobs_u8 tcp_pad0[4];   /* padding */
	netobs_ptr tcp_hdr;      /* first byte of the header */
	netobs_u32 tcp_payload;  /* payload bytes on the wire */
	char tcp_flagstr[24];    /* flags in words, "SYN|ACK", "" if none; more than six end in "|..." */
	netobs_u8 tcp_pad1[4];   /* padding */
};

/* The TCP endpoint: its protocol control block (RFC 9293 section 3.3.1).  Sequence numbers are absolute. */
struct tcpsinfo {
	netobs_u64 tcps_addr;          /* opaque identity of the endpoint: equal means same endpoint */
	netobs_i32 tcps_local;         /* 1 both ends of the connection are local, 0 not; -1 unknown */
	netobs_i32 tcps_active;        /* 1 active open, 0 passive; -1 unknown (picked up in mid-stream) */
	netobs_u16 tcps_lport;         /* local port: this endpoint's */
	netobs_u16 tcps_rport;         /* remote port */
	char tcps_laddr[46];           /* local address: this endpoint's, text */
	char tcps_raddr[46];           /* remote address, text */
	netobs_i32 tcps_state;         /* NETOBS_TCP_ number; 0 unknown */
	netobs_u32 tcps_iss;           /* initial send sequence number; 0 unknown */
	netobs_u32 tcps_irs;           /* initial receive sequence number; 0 unknown */
	netobs_u32 tcps_suna;          /* oldest unacknowledged sequence number (SND.UNA) */
	netobs_u32 tcps_snxt;          /* next sequence number to send (SND.NXT) */
	netobs_u32 tcps_rnxt;          /* next sequence number expected (RCV.NXT) */
	netobs_u32 tcps_rack;          /* last acknowledgement number sent */
	netobs_u32 tcps_swnd;          /* send window, bytes, scaled: what the peer last advertised */
	netobs_u32 tcps_rwnd;          /* receive window, bytes, scaled: what this endpoint last advertised */
	netobs_i32 tcps_snd_ws;        /* shift of the windows received (RFC 7323), 0 without scaling; -1 unknown */
	netobs_i32 tcps_rcv_ws;        /* shift of the windows sent (RFC 7323), 0 without scaling; -1 unknown */
	netobs_u32 tcps_cwnd;          /* congestion window, bytes; estimate (flight size) unless tcps_kernel is 1 */
	netobs_u32 tcps_cwnd_ssthresh; /* slow start threshold, bytes; estimate unless tcps_kernel is 1; 0 unknown */
	netobs_u32 tcps_sack_fack;     /* highest sequence number that the peer has SACKed (RFC 2018); 0 none */
	netobs_u32 tcps_sack_snxt;     /* next sequence number to send again in a SACK recovery (RFC 6675); 0 none */
	netobs_u32 tcps_rto;           /* retransmission timeout, ms; estimate (RFC 6298) unless tcps_kernel is 1 */
	netobs_u32 tcps_mss;           /* largest segment this endpoint may send, payload bytes; 0 unknown */
	netobs_i32 tcps_retransmit;    /* 1 this segment is a retransmission, 0 not */
	netobs_u32 tcps_rtt;           /* smoothed RTT, ms; estimate (RFC 6298) unless tcps_kernel is 1; 0 unknown */
	netobs_u32 tcps_rtt_sd;        /* mean deviation of tcps_rtt, ms; likewise an estimate; 0 unknown */
	netobs_u32 tcps_srtt_us;       /* smoothed RTT, us; estimate (RFC 6298) unless tcps_kernel is 1; 0 unknown */
	char tcps_statestr[20];        /* state by name: "state-established"; "<unknown>" */
	netobs_u64 tcps_snd_bytes;     /* payload bytes sent, each counted once */
	netobs_u64 tcps_rcv_bytes;     /* payload bytes received, each counted once */
	netobs_u64 tcps_snd_segs;      /* segments sent, retransmissions included */
	netobs_u64 tcps_rcv_segs;      /* segments received, retransmissions included */
	netobs_u64 tcps_snd_retrans;   /* segments sent that were retransmissions */
	netobs_u64 tcps_rcv_retrans;   /* segments received that were retransmissions */
	netobs_u64 tcps_start;         /* first packet of the connection, ns since the epoch */
	netobs_i32 tcps_kernel;        /* 1: cwnd, ssthresh, rto, mss, rtt are the kernel's (tcp_info); 0: estimates */
	netobs_u8 tcps_pad[4];         /* padding */
};

/* tcpsinfo_t after a change of state. */
struct tcpnsinfo {
	netobs_u64 tcps_addr;          /* opaque identity of the endpoint: equal means same endpoint */
	netobs_i32 tcps_local;         /* 1 both ends of the connection are local, 0 not; -1 unknown */
	netobs_i32 tcps_active;        /* 1 active open, 0 passive; -1 unknown (picked up in mid-stream) */
	netobs_u16 tcps_lport;         /* local port: this endpoint's */
	netobs_u16 tcps_rport;         /* remote port */
	char tcps_laddr[46];           /* local address: this endpoint's, text */
	char tcps_raddr[46];           /* remote address, text */
	netobs_i32 tcps_state;         /* NETOBS_TCP_ number; 0 unknown */
	netobs_u32 tcps_iss;           /* initial send sequence number; 0 unknown */
	netobs_u32 tcps_irs;           /* initial receive sequence number; 0 unknown */
	netobs_u32 tcps_suna;          /* oldest unacknowledged sequence number (SND.UNA) */
	netobs_u32 tcps_snxt;          /* next sequence number to send (SND.NXT) */
	netobs_u32 tcps_rnxt;          /* next sequence number expected (RCV.NXT) */
	netobs_u32 tcps_rack;          /* last acknowledgement number sent */
	netobs_u32 tcps_swnd;          /* send window, bytes, scaled: what the peer last advertised */
	netobs_u32 tcps_rwnd;          /* receive window, bytes, scaled: what this endpoint last advertised */
	netobs_i32 tcps_snd_ws;        /* shift of the windows received (RFC 7323), 0 without scaling; -1 unknown */
	netobs_i32 tcps_rcv_ws;        /* shift of the windows sent (RFC 7323), 0 without scaling; -1 unknown */
	netobs_u32 tcps_cwnd;          /* congestion window, bytes; estimate (flight size) unless tcps_kernel is 1 */
	netobs_u32 tcps_cwnd_ssthresh; /* slow start threshold, bytes; estimate unless tcps_kernel is 1; 0 unknown */
	netobs_u32 tcps_sack_fack;     /* highest sequence number that the peer has SACKed (RFC 2018); 0 none */
	netobs_u32 tcps_sack_snxt;     /* next sequence number to send again in a SACK recovery (RFC 6675); 0 none */
	netobs_u32 tcps_rto;           /* retransmission timeout, ms; estimate (RFC 6298) unless tcps_kernel is 1 */
	netobs_u32 tcps_mss;           /* largest segment this endpoint may send, payload bytes; 0 unknown */
	netobs_i32 tcps_retransmit;    /* 1 this segment is a retransmission, 0 not */
	netobs_u32 tcps_rtt;           /* smoothed RTT, ms; estimate (RFC 6298) unless tcps_kernel is 1; 0 unknown */
	netobs_u32 tcps_rtt_sd;        /* mean deviation of tcps_rtt, ms; likewise an estimate; 0 unknown */
	netobs_u32 tcps_srtt_us;       /* smoothed RTT, us; estimate (RFC 6298) unless tcps_kernel is 1; 0 unknown */
	char tcps_statestr[20];        /* state by name: "state-established"; "<unknown>" */
	netobs_u64 tcps_snd_bytes;     /* payload bytes sent, each counted once */
	netobs_u64 tcps_rcv_bytes;     /* payload bytes received, each counted once */
	netobs_u64 tcps_snd_segs;      /* segments sent, retransmissions included */
	netobs_u64 tcps_rcv_segs;      /* segments received, retransmissions included */
	netobs_u64 tcps_snd_retrans;   /* segments sent that were retransmissions */
	netobs_u64 tcps_rcv_retrans;   /* segments received that were retransmissions */
	netobs_u64 tcps_start;         /* first packet of the connection, ns since the epoch */
	netobs_i32 tcps_kernel;        /* 1: cwnd, ssthresh, rto, mss, rtt are the kernel's (tcp_info); 0: estimates */
	netobs_u8 tcps_pad[4];         /* padding */
};

/* The previous state of a TCP endpoint. */
struct tcplsinfo {
	netobs_i32 tcps_state;  /* NETOBS_TCP_ number of the state before */
	char tcps_statestr[20]; /* state before, by name */
};

/* A retransmission. */
struct tcprinfo {
	netobs_u32 tcpr_kind;       /* NETOBS_RETRANSMIT_ number; 0 not a retransmission */
	char tcpr_kindstr[16];      /* kind in words: "fast", "timeout", "tail-loss-probe", "spurious", "syn", "" */
	netobs_u32 tcpr_count;      /* times this sequence range has been sent, including this one */
	netobs_u64 tcpr_elapsed_us; /* time since it was last sent, us; 0 if that was not captured */
};

/* TCP fusion: a data segment between two endpoints of this host. */
struct tcpfinfo {
	netobs_u32 tcpf_len;      /* payload bytes */
	netobs_u32 tcpf_seq;      /* sequence number of the first of them */
	netobs_u64 tcpf_peer_cid; /* connection id of the other endpoint */
	netobs_i32 tcpf_peer_pid; /* process that owns the other endpoint; -1 unknown */
	netobs_u8 tcpf_pad[4];    /* padding */
};

/* The UDP header (RFC 768), and one endpoint of the stream. */
struct udpinfo {
	netobs_u16 udp_sport;          /* source port */
	netobs_u16 udp_dport;          /* destination port */
	netobs_u16 udp_length;         /* header and data, bytes, as on the wire: 0 in a jumbogram, see ip_plength */
	netobs_u16 udp_checksum;       /* checksum, as on the wire; 0: the sender computed none */
	netobs_ptr udp_hdr;            /* first byte of the header */
	netobs_u64 udps_addr;          /* opaque identity of the endpoint: equal means same endpoint; 0 none */
	netobs_u16 udps_lport;         /* local port: this endpoint's */
	netobs_u16 udps_rport;         /* remote port */
	char udps_laddr[46];           /* local address: this endpoint's, text */
	char udps_raddr[46];           /* remote address, text */
	netobs_u64 udps_snd_bytes;     /* data bytes sent on this stream */
	netobs_u64 udps_rcv_bytes;     /* data bytes received on this stream */
	netobs_u64 udps_snd_datagrams; /* datagrams sent on this stream */
	netobs_u64 udps_rcv_datagrams; /* datagrams received on this stream */
};

/* The SCTP common header (RFC 9260 section 3.1) and its chunks. */
struct sctpinfo {
	netobs_u16 sctp_sport;       /* source port */
	netobs_u16 sctp_dport;       /* destination port */
	netobs_u32 sctp_verify;      /* verification tag */
	netobs_u32 sctp_checksum;    /* CRC32c, as on the wire */
	netobs_u8 sctp_pad[4];       /* padding */
	netobs_ptr sctp_hdr;         /* first byte of the header */
	netobs_u32 sctp_chunk_type;  /* type of the first chunk; 0 for DATA, and if there is no chunk */
	netobs_u32 sctp_chunk_count; /* chunks in this packet */
};

/* One endpoint of an SCTP association. */
struct sctpsinfo {
	netobs_u64 sctps_addr;       /* opaque identity of the endpoint: equal means same endpoint */
	netobs_u32 sctps_num_raddrs; /* addresses of the peer that are known */
	char sctps_raddrs[184];      /* the first four of them, text, separated by spaces */
	netobs_u32 sctps_num_laddrs; /* addresses of this endpoint that are known */
	char sctps_laddrs[184];      /* the first four of them, text, separated by spaces */
	netobs_u16 sctps_lport;      /* local port: this endpoint's */
	netobs_u16 sctps_rport;      /* remote port */
	char sctps_laddr[46];        /* local primary address, text */
	char sctps_raddr[46];        /* remote primary address, text */
	netobs_i32 sctps_state;      /* NETOBS_SCTP_ number; 0 unknown */
	netobs_u8 sctps_pad[4];      /* padding */
};

/* The state that an SCTP association has left. */
struct sctplsinfo {
	netobs_i32 sctps_state; /* NETOBS_SCTP_ number of the state before */
};

/* The DCCP header (RFC 4340 section 5). */
struct dccpinfo {
	netobs_u16 dccp_sport;    /* source port */
	netobs_u16 dccp_dport;    /* destination port */
	netobs_u8 dccp_type;      /* packet type: NETOBS_DCCP_ number */
	netobs_u8 dccp_ccval;     /* CCVal, 4 bits, for the congestion control of the sender */
	netobs_u8 dccp_cscov;     /* checksum coverage: 0 all data, else the first 4 * (dccp_cscov - 1) bytes of it */
	netobs_u8 dccp_reset;     /* reset code of a Reset; 0 in other packets */
	netobs_u64 dccp_seq;      /* sequence number: 48 bits, or 24 if dccp_x is 0 */
	netobs_u64 dccp_ack;      /* acknowledgement number, likewise; 0 in a Request and in Data, which have none */
	netobs_u32 dccp_offset;   /* header with options, bytes */
	netobs_u32 dccp_service;  /* service code of a Request and a Response; 0 in other packets */
	netobs_u32 dccp_payload;  /* payload bytes on the wire */
	netobs_u16 dccp_checksum; /* checksum, as on the wire */
	netobs_u8 dccp_x;         /* extended sequence numbers: 1 of 48 bits, 0 of 24 bits */
	netobs_u8 dccp_pad[1];    /* padding */
	netobs_ptr dccp_hdr;      /* first byte of the header */
	char dccp_typestr[12];    /* packet type in words: "data-ack"; "<unknown>" if it is reserved */
	char dccp_resetstr[20];   /* reset code in words: "no-connection"; "" in other packets; "<unknown>" */
};

/* The socket: application bytes, in order and each byte once. */
struct sockinfo {
	netobs_i32 so_family;   /* AF_INET 2, AF_INET6 10 */
	netobs_i32 so_type;     /* SOCK_STREAM 1, SOCK_DGRAM 2 */
	netobs_i32 so_protocol; /* IANA number: 6 TCP, 17 UDP */
	char so_laddr[46];      /* local address, text */
	char so_raddr[46];      /* remote address, text */
	netobs_u16 so_lport;    /* local port */
	netobs_u16 so_rport;    /* remote port */
	netobs_u32 so_bytes;    /* application bytes of this event */
	netobs_u64 so_offset;   /* offset of the first of them in the stream, bytes from 0 */
	netobs_i32 so_pid;      /* process that owns the socket; -1 unknown */
	netobs_u8 so_pad[4];    /* padding */
	netobs_i64 so_uid;      /* user that owns the socket; -1 unknown */
	char so_execname[16];   /* command name of so_pid; "<unknown>", also if it is empty */
};

/* The connection of an application protocol: the first argument of every application provider. */
struct conninfo {
	char ci_local[46];     /* local address, text, without port */
	char ci_remote[46];    /* remote address, text, without port */
	char ci_protocol[12];  /* "ipv4" or "ipv6" */
	netobs_u16 ci_lport;   /* local port */
	netobs_u16 ci_rport;   /* remote port */
	netobs_u8 ci_pad[4];   /* padding */
	netobs_u64 ci_cid;     /* connection id of the local endpoint, as cs_cid */
	netobs_u64 ci_pkt;     /* id of the packet that completed the message, as pkt_addr; 0 in a timeout */
	netobs_u64 ci_ts;      /* time of this event, ns since the epoch */
	netobs_u64 ci_seq;     /* number of this firing since the probe was enabled, from 1; a gap: missed firings */
};

/* iSCSI (RFC 7143): one PDU, and its session.  A field that the PDU does not have is 0. */
struct iscsiinfo {
	char ii_target[224];    /* iSCSI name of the target; "" before the login and in discovery; "<unknown>" */
	char ii_initiator[224]; /* iSCSI name of the initiator; "" before the login; "<unknown>" */
	netobs_u64 ii_lun;      /* logical unit number; all eight bytes if addressing has more than one level */
	netobs_u32 ii_itt;      /* initiator task tag */
	netobs_u32 ii_ttt;      /* target transfer tag */
	netobs_u32 ii_cmdsn;    /* command sequence number */
	netobs_u32 ii_statsn;   /* status sequence number */
	netobs_u32 ii_datasn;   /* data sequence number; R2T sequence number in data-request */
	netobs_u32 ii_datalen;  /* bytes of the data segment */
	netobs_u32 ii_flags;    /* flags of the PDU, second byte of its header: NETOBS_ISCSI_ bits and numbers */
	netobs_u32 ii_status;   /* SCSI status; login: class << 8 | detail; asynchronous message: its event */
	netobs_u32 ii_response; /* response of scsi-, task- and logout-response */
	netobs_u32 ii_opcode;   /* operation code of the PDU, 6 bits */
	netobs_u32 ii_offset;   /* buffer offset of the data sent, received or requested, bytes */
	netobs_u32 ii_xferlen;  /* bytes that a command expects to transfer, or that data-request requests */
};

/* A SCSI command. */
struct iscsicmd {
	netobs_u64 ic_len;       /* bytes of the command descriptor block: 6, 10, 12, 16 or, extended, more */
	netobs_ptr ic_cdb;       /* its bytes */
	netobs_u32 ic_opcode;    /* SCSI operation code, the first of these bytes */
	char ic_opstr[28];       /* operation in words: "read(10)"; "<unknown>" */
	netobs_u8 ic_cdb16[16];  /* the first 16 bytes; 0 beyond ic_len */
};

/* DNS (RFC 1035): one message.  Fields of the answer are "", 0 or -1 in a query. */
struct dnsinfo {
	char dns_qname[256];          /* name of the first question, escaped as in a master file; "" none */
	char dns_cname[256];          /* name that the first CNAME record of the answer gives; "" none */
	char dns_addr[46];            /* first address (A, AAAA) of the answer, text; "" none */
	char dns_qtypestr[12];        /* type of the first question: "AAAA", "TYPE65280"; "" none */
	char dns_rcodestr[12];        /* response code in words: "NXDOMAIN"; "RCODE12" */
	char dns_transport[8];        /* "udp", "tcp", "mdns" (RFC 6762) or "llmnr" (RFC 4795) */
	netobs_u16 dns_id;            /* transaction id */
	netobs_u16 dns_qtype;         /* type of the first question */
	netobs_u16 dns_qclass;        /* class of the first question, 1 Internet */
	netobs_u16 dns_flags;         /* the 16 bits after the id: QR, OPCODE, AA, TC, RD, RA, AD, CD, RCODE */
	netobs_u16 dns_rcode;         /* response code, with the bits of EDNS (RFC 6891) */
	netobs_u16 dns_questions;     /* records in each section, as the header counts them */
	netobs_u16 dns_answers;       /* likewise */
	netobs_u16 dns_authority;     /* likewise */
	netobs_u16 dns_additional;    /* likewise */
	netobs_u16 dns_edns_size;     /* bytes of a UDP payload that the sender accepts; 0 without EDNS */
	netobs_u8 dns_dnssec_ok;      /* 1 if the sender understands DNSSEC records (RFC 3225) */
	netobs_u8 dns_pad[1];         /* padding */
	netobs_u32 dns_ttl;           /* time to live of the first record of the answer, s */
	netobs_u32 dns_size;          /* bytes of the message */
	netobs_u32 dns_tries;         /* copies of the query up to now, from 1; 0 unknown */
	netobs_i64 dns_latency_us;    /* first copy of the query to this response, us; -1 unknown */
};

/* TLS (RFC 8446, RFC 5246): one connection, as far as its handshake has come. */
struct tlsinfo {
	char tls_sni[256];                /* server name that the client asked for (RFC 6066); "" none */
	char tls_alpn[32];                /* protocol: the server's choice, else the client's first; "" none */
	char tls_versionstr[12];          /* tls_version in words: "TLSv1.3" */
	char tls_cipherstr[48];           /* cipher suite in words: "TLS_AES_128_GCM_SHA256"; "" none */
	char tls_ja4[40];                 /* JA4 fingerprint of the client; "" if its ClientHello is not complete */
	char tls_alertstr[32];            /* alert in words: "handshake_failure"; "" none */
	char tls_from[8];                 /* sender of the message: "client" or "server" */
	netobs_u16 tls_version;           /* negotiated version; until then the client's highest: 0x0304 TLS 1.3 */
	netobs_u16 tls_cipher;            /* cipher suite that the server chose; 0 none yet */
	netobs_u16 tls_group;             /* key exchange group that the server chose: 29 x25519; 0 unknown */
	netobs_u8 tls_resumed;            /* 1 if the server resumes an earlier session */
	netobs_u8 tls_ech;                /* 1 if the client sent an encrypted ClientHello (RFC 9849) */
	netobs_i32 tls_alert_level;       /* 1 warning, 2 fatal; -1 no alert, or encrypted */
	netobs_i32 tls_alert_description; /* number of the alert; -1 no alert, or encrypted */
	netobs_u8 tls_pad[4];             /* padding */
	netobs_i64 tls_hello_us;          /* ClientHello to ServerHello, us; -1 unknown */
	netobs_i64 tls_handshake_us;      /* ClientHello to the end of the handshake, us; -1 unknown */
};

/* HTTP/1 (RFC 9112): one request, and its response. */
struct httpinfo {
	netobs_u64 rq_id;             /* number of the request, unique in a run */
	netobs_u32 rq_status;         /* status code of the final response; 0 none (yet) */
	netobs_u16 rq_lport;          /* local port */
	netobs_u16 rq_rport;          /* remote port */
	char rq_method[16];           /* method, the first 15 bytes: "GET" */
	char rq_uri[256];             /* request target, the first 255 bytes */
	char rq_agent[128];           /* User-Agent, the first 127 bytes; "" none */
	char rq_host[256];            /* Host, the first 255 bytes; "" none */
	char rq_version[12];          /* version of the request: "HTTP/1.1" */
	netobs_u32 rq_uri_len;        /* bytes of the request target */
	netobs_u64 rq_request_bytes;  /* bytes of the request, header and body, up to now */
	netobs_u64 rq_response_bytes; /* bytes of the response, header and body, up to now */
	netobs_i64 rq_first_byte_us;  /* first byte of the request to the first of the response, us; -1 unknown */
	netobs_i64 rq_total_us;       /* first byte of the request to the last of the response, us; -1 unknown */
	netobs_u8 rq_upgraded;        /* 1 if another protocol follows: 101, or 2xx to CONNECT */
	netobs_u8 rq_pad[7];          /* padding */
};

/* SMB 2 and 3 (MS-SMB2): one request, and its response. */
struct smbopinfo {
	char soi_share[128];     /* path of the share, in UNC form; "" unknown */
	char soi_curpath[256];   /* path of the file in the share, UTF-8; "" unknown or none */
	char soi_opstr[20];      /* operation in words: "create" */
	char soi_statusstr[44];  /* status in words: "STATUS_ACCESS_DENIED"; else hexadecimal; "" none */
	char soi_dialectstr[8];  /* dialect in words: "3.1.1"; "" unknown */
	netobs_u64 soi_sid;      /* session id; 0 none */
	netobs_u64 soi_uid;      /* user of the session, as soi_sid: SMB 2 has one number for both */
	netobs_u64 soi_mid;      /* message id */
	netobs_u64 soi_offset;   /* read, write: first byte in the file */
	netobs_u32 soi_count;    /* read, write: bytes; of the request, then of the response */
	netobs_u32 soi_tid;      /* tree id; 0 none */
	netobs_u32 soi_status;   /* NTSTATUS of the response; 0 in smb-op-start */
	netobs_u32 soi_flags;    /* flags of the header (MS-SMB2 section 2.2.1) */
	netobs_u16 soi_op;       /* command, 0 negotiate to 18 oplock break; 65535 encrypted */
	netobs_u16 soi_dialect;  /* dialect: 0x0311 3.1.1; 0 unknown */
	netobs_u8 soi_encrypted; /* 1 if the message is encrypted: only the session and the time are known */
	netobs_u8 soi_signed;    /* 1 if the message is signed */
	netobs_u8 soi_pad[2];    /* padding */
	netobs_i64 soi_latency_us; /* request to final response, us; -1 unknown */
};

/* A connection: both ends, from its first packet to its end.  The client is the end that opened it; cr_role says how it
 * was told apart. */
struct connrec {
	netobs_u64 cr_uid;                 /* identity, the same in every run and on every host; 16 hex digits */
	char cr_community[32];             /* Community ID (version 1, seed 0), text */
	char cr_client[46];                /* address of the client, text */
	char cr_server[46];                /* address of the server, text */
	netobs_u16 cr_client_port;         /* port of the client */
	netobs_u16 cr_server_port;         /* port of the server */
	netobs_u64 cr_client_cid;          /* connection id of the client's endpoint, as cs_cid */
	netobs_u64 cr_server_cid;          /* connection id of the server's endpoint, as cs_cid */
	char cr_role[8];                   /* how the client is known: "seen" (it opened), "port", "first" (packet) */
	netobs_u8 cr_protocol;             /* IANA number: 6 TCP, 17 UDP, 132 SCTP */
	char cr_protostr[6];               /* protocol in words: "TCP", "UDP", "SCTP" */
	netobs_u8 cr_version;              /* IP version, 4 or 6 */
	char cr_if_name[16];               /* interface of the first packet, as if_name; "" unknown */
	netobs_i32 cr_vlan;                /* VLAN id of the first packet, 0 to 4095; -1 without tag or unknown */
	netobs_u8 cr_pad[4];               /* padding */
	netobs_u64 cr_start;               /* time of the first packet, ns since the epoch */
	netobs_u64 cr_end;                 /* time of the last packet, ns since the epoch */
	netobs_u64 cr_duration_us;         /* cr_end - cr_start, us; 0 if the time stamps decrease */
	netobs_u64 cr_client_segments;     /* segments, datagrams or packets that the client sent */
	netobs_u64 cr_client_bytes;        /* payload bytes that the client sent; TCP: each counted once */
	netobs_u64 cr_client_wire;         /* bytes of the frames that carried them; 0 unknown */
	netobs_u64 cr_client_resent;       /* segments of the client that were retransmissions */
	netobs_u64 cr_client_out_of_order; /* segments of the client that arrived after a later one */
	netobs_u64 cr_client_zero_windows; /* times that the client closed its receive window */
	char cr_client_state[24];          /* last state of the client, in words: "time-wait"; "" UDP or unknown */
	netobs_u64 cr_server_segments;     /* segments, datagrams or packets that the server sent */
	netobs_u64 cr_server_bytes;        /* payload bytes that the server sent; TCP: each counted once */
	netobs_u64 cr_server_wire;         /* bytes of the frames that carried them; 0 unknown */
	netobs_u64 cr_server_resent;       /* segments of the server that were retransmissions */
	netobs_u64 cr_server_out_of_order; /* segments of the server that arrived after a later one */
	netobs_u64 cr_server_zero_windows; /* times that the server closed its receive window */
	char cr_server_state[24];          /* last state of the server, in words: "closed"; "" UDP or unknown */
	netobs_u64 cr_resent_fast;         /* retransmissions of both ends that an ACK caused */
	netobs_u64 cr_resent_timeout;      /* retransmissions of both ends by the retransmission timer */
	netobs_u64 cr_resent_probe;        /* tail-loss probes of both ends */
	netobs_u64 cr_resent_spurious;     /* retransmissions of both ends of what was acknowledged already */
	netobs_u64 cr_resent_syn;          /* retransmissions of SYN and SYN,ACK */
	netobs_u64 cr_zero_window_us;      /* longest time that a window stayed closed, us; one still closed included */
	netobs_i64 cr_handshake_us;        /* SYN to the ACK of the SYN,ACK, us; -1 unknown */
	netobs_i64 cr_first_byte_us;       /* first packet to the first payload of the server, us; -1 unknown */
	netobs_i64 cr_rtt_min_us;          /* smallest round-trip time of both ends, us; -1 no sample */
	netobs_i64 cr_rtt_mean_us;         /* mean of the samples, us; -1 no sample */
	netobs_i64 cr_rtt_max_us;          /* largest round-trip time, us; -1 no sample */
	netobs_u64 cr_rtt_samples;         /* round-trip times measured */
	netobs_u64 cr_exchanges;           /* requests of the client that the server answered */
	netobs_i64 cr_answer_mean_us;      /* mean time from a request to its answer, us; -1 none */
	netobs_i64 cr_answer_max_us;       /* longest time from a request to its answer, us; -1 none */
	netobs_u32 cr_mss;                 /* largest segment that both ends may send, payload bytes; 0 unknown */
	netobs_u8 cr_client_flags;         /* TCP flags of all segments of the client: NETOBS_TH_ bits */
	netobs_u8 cr_server_flags;         /* TCP flags of all segments of the server: NETOBS_TH_ bits */
	char cr_reason[18];                /* why it ended: "fin", "reset-by-client", "idle"; "open" if it has not */
	netobs_i32 cr_client_pid;          /* process that owns the client's end; -1 unknown */
	netobs_i32 cr_server_pid;          /* process that owns the server's end; -1 unknown */
	netobs_i64 cr_client_uid;          /* user that owns the client's end; -1 unknown */
	netobs_i64 cr_server_uid;          /* user that owns the server's end; -1 unknown */
	char cr_client_comm[16];           /* command name of cr_client_pid; "" unknown */
	char cr_server_comm[16];           /* command name of cr_server_pid; "" unknown */
	char cr_name[256];                 /* first name that an application protocol gave it; "" none */
	char cr_name_from[8];              /* application protocol that gave cr_name; "" none */
	netobs_u64 cr_anomalies;           /* anomalies of the packets of the connection */
	char cr_anomaly[32];               /* name of the first anomaly; "" none */
	netobs_u64 cr_seq;                 /* as pkt_seq, for probes without pktinfo_t */
	netobs_u64 cr_since;               /* time from which all counts hold, ns since the epoch; see netobs(7) */
	netobs_i32 cr_icmp_type;           /* ICMP error that ended the attempt: its type; -1 none */
	netobs_i32 cr_icmp_code;           /* its code; -1 none */
	char cr_icmp_str[48];              /* both in words: "host unreachable"; "" none */
	char cr_icmp_sender[46];           /* router or host that sent it; "" none */
	netobs_u8 cr_pad2[2];              /* padding */
	netobs_u64 cr_connect_us;          /* first SYN to the ACK of the SYN,ACK, less what was lost, us */
	netobs_u64 cr_path_us;             /* packets under way between the ends, at a change of turns, us */
	netobs_u64 cr_network_us;          /* a transfer went on as fast as the path lets it, us */
	netobs_u64 cr_client_us;           /* the client had nothing to ask, us */
	netobs_u64 cr_server_us;           /* a request waited for the server, us */
	netobs_u64 cr_client_sending_us;   /* the client paused in a transfer, us */
	netobs_u64 cr_server_sending_us;   /* the server paused in a transfer, us */
	netobs_u64 cr_client_window_us;    /* the window of the client was closed or full, us */
	netobs_u64 cr_server_window_us;    /* the window of the server was closed or full, us */
	netobs_u64 cr_client_lost_us;      /* what the client sent was lost and not resent, us */
	netobs_u64 cr_server_lost_us;      /* what the server sent was lost and not resent, us */
	netobs_u64 cr_closing_us;          /* after the first FIN or RST, us */
	netobs_u64 cr_unknown_us;          /* packets cannot decide what was waited for, us */
	netobs_i64 cr_client_rtt_min_us;   /* smallest round trip between capture and client, us; -1 none */
	netobs_i64 cr_client_rtt_mean_us;  /* mean of these, us; -1 no sample */
	netobs_i64 cr_client_rtt_max_us;   /* largest, us; -1 no sample */
	netobs_i64 cr_client_rtt_loaded_us;/* mean under load, us; -1 no sample */
	netobs_u64 cr_client_busy_us;      /* data of the client was outstanding, us */
	netobs_i64 cr_server_rtt_min_us;   /* smallest round trip between capture and server, us; -1 none */
	netobs_i64 cr_server_rtt_mean_us;  /* mean of these, us; -1 no sample */
	netobs_i64 cr_server_rtt_max_us;   /* largest, us; -1 no sample */
	netobs_i64 cr_server_rtt_loaded_us;/* mean under load, us; -1 no sample */
	netobs_u64 cr_server_busy_us;      /* data of the server was outstanding, us */
	netobs_i64 cr_server_min_us;       /* shortest time that the server took for an answer, us; -1 none */
	netobs_i64 cr_server_max_us;       /* longest time that the server took for an answer, us; -1 none */
	netobs_u64 cr_pause_max_us;        /* longest pause of an end in a transfer, us */
	netobs_u64 cr_turns;               /* changes of direction between client and server */
	netobs_u64 cr_slow_answers;        /* answers for which the server took 500 ms or more */
	netobs_u64 cr_client_lost_before;  /* segments of the client lost before the capture */
	netobs_u64 cr_server_lost_before;  /* segments of the server lost before the capture */
	netobs_i64 cr_unanswered_us;       /* request without answer at the first FIN or RST, us; -1 none */
	char cr_closed_by[8];              /* "client" or "server": sent the first FIN or RST; "" none */
	netobs_u8 cr_cut;                  /* 1 if the other end sent more data after that */
	netobs_u8 cr_pad3[7];              /* padding */
};

typedef struct pktinfo pktinfo_t;
typedef struct csinfo csinfo_t;
typedef struct ipinfo ipinfo_t;
typedef struct illinfo illinfo_t;
typedef struct ifinfo ifinfo_t;
typedef struct etherinfo etherinfo_t;
typedef struct arpinfo arpinfo_t;
typedef struct ipv4info ipv4info_t;
typedef struct ipv6info ipv6info_t;
typedef struct icmpinfo icmpinfo_t;
typedef struct tcpinfo tcpinfo_t;
typedef struct tcpsinfo tcpsinfo_t;
typedef struct tcpnsinfo tcpnsinfo_t;
typedef struct tcplsinfo tcplsinfo_t;
typedef struct tcprinfo tcprinfo_t;
typedef struct tcpfinfo tcpfinfo_t;
typedef struct udpinfo udpinfo_t;
typedef struct sctpinfo sctpinfo_t;
typedef struct sctpsinfo sctpsinfo_t;
typedef struct sctplsinfo sctplsinfo_t;
typedef struct dccpinfo dccpinfo_t;
typedef struct sockinfo sockinfo_t;
typedef struct conninfo conninfo_t;
typedef struct iscsiinfo iscsiinfo_t;
typedef struct iscsicmd iscsicmd_t;
typedef struct dnsinfo dnsinfo_t;
typedef struct tlsinfo tlsinfo_t;
typedef struct httpinfo httpinfo_t;
typedef struct smbopinfo smbopinfo_t;
typedef struct connrec connrec_t;

#endif
