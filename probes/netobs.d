/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider: every probe, its arguments and their stability.  This file is the only list of probes; manifest.awk
 * generates the sites, semaphores, ids and the manifest of netobsd --list-probes from it.
 *
 * A probe is named tcp-receive in D and tcp__receive here and in the program.  Its arguments are pointers to the
 * structs of netobs.h; a D program sees them as args[N] through the translators of the D library.  A position that a
 * probe does not use is NULL and stays reserved.  An argument may be NULL only if its line says so.  All probes of a
 * packet carry the same pkt_addr.
 *
 * The dtrace programs of SystemTap and of DTrace both read this file.  Without its parser module SystemTap's falls back
 * to a line-based reader.  Therefore: no comment after a declaration, no struct definition, no type with a body.
 */

/*
 * Probes of packets that only continue a known connection; on x86-64 they have a second site (usdt/site.h):
 * gld-send gld-receive ip-send ip-receive ip-request ip-deliver ip-packet-free udp-send udp-receive tcp-send
 * tcp-receive tcpf-send tcpf-receive socket-send socket-receive
 */
provider netobs {
	/*
	 * A frame is sent. Fires before the content of the frame is checked, and never in the monitor view.
	 *
	 * args[0] pktinfo_t *: the frame, and the packet in it
	 * args[1] NULL: reserved
	 * args[2] ipinfo_t * or NULL: the IP packet in it; NULL if the frame is not IP
	 * args[3] illinfo_t *: the interface
	 * args[4] etherinfo_t *: the link header; zero if the link type has none
	 */
	probe gld__send(netobs_pktinfo_t *pkt, void *none1, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_etherinfo_t *ether)
	    : (nobs_pktinfo_t *pkt, void *none1, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_etherinfo_t *ether);

	/*
	 * A frame is received. Fires before the content of the frame is checked; in the monitor view for every frame.
	 *
	 * args[0] pktinfo_t *: the frame, and the packet in it
	 * args[1] NULL: reserved
	 * args[2] ipinfo_t * or NULL: the IP packet in it; NULL if the frame is not IP
	 * args[3] illinfo_t *: the interface
	 * args[4] etherinfo_t *: the link header; zero if the link type has none
	 */
	probe gld__receive(netobs_pktinfo_t *pkt, void *none1, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_etherinfo_t *ether)
	    : (nobs_pktinfo_t *pkt, void *none1, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_etherinfo_t *ether);

	/*
	 * An ARP or RARP packet is sent.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] NULL: reserved
	 * args[2] NULL: reserved
	 * args[3] illinfo_t *: the interface
	 * args[4] arpinfo_t *: the ARP packet
	 */
	probe arp__send(netobs_pktinfo_t *pkt, void *none1, void *none2, netobs_illinfo_t *ill, netobs_arpinfo_t *arp)
	    : (nobs_pktinfo_t *pkt, void *none1, void *none2, nobs_illinfo_t *ill, nobs_arpinfo_t *arp);

	/*
	 * An ARP or RARP packet is received.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] NULL: reserved
	 * args[2] NULL: reserved
	 * args[3] illinfo_t *: the interface
	 * args[4] arpinfo_t *: the ARP packet
	 */
	probe arp__receive(netobs_pktinfo_t *pkt, void *none1, void *none2, netobs_illinfo_t *ill,
		netobs_arpinfo_t *arp)
	    : (nobs_pktinfo_t *pkt, void *none1, void *none2, nobs_illinfo_t *ill, nobs_arpinfo_t *arp);

	/*
	 * IP passes a packet to the driver. Fires once for each fragment, once for a super-packet (TSO, BIG TCP) with
	 * its real size, and for packets inside tunnels, each with its own packet id.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the sending endpoint; NULL if no connection is known
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] ipv4info_t * or NULL: the IPv4 header; NULL in an IPv6 packet
	 * args[5] ipv6info_t * or NULL: the IPv6 header; NULL in an IPv4 packet
	 */
	probe ip__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_ipv4info_t *ipv4, netobs_ipv6info_t *ipv6)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_ipv4info_t *ipv4,
		nobs_ipv6info_t *ipv6);

	/*
	 * The driver passes a packet to IP. Fires once for each fragment, once for a super-packet (GRO, BIG TCP) with
	 * its real size, and for packets inside tunnels, each with its own packet id.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the receiving endpoint; NULL if no connection is known
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] ipv4info_t * or NULL: the IPv4 header; NULL in an IPv6 packet
	 * args[5] ipv6info_t * or NULL: the IPv6 header; NULL in an IPv4 packet
	 */
	probe ip__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_ipv4info_t *ipv4, netobs_ipv6info_t *ipv6)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_ipv4info_t *ipv4,
		nobs_ipv6info_t *ipv6);

	/*
	 * IP discards a received packet; pkt_reason is the reason. Does not fire for a packet that was truncated by the
	 * capture.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the endpoint; NULL if no connection is known
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] ipv4info_t * or NULL: the IPv4 header; NULL in an IPv6 packet
	 * args[5] ipv6info_t * or NULL: the IPv6 header; NULL in an IPv4 packet
	 */
	probe ip__drop__in(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_ipv4info_t *ipv4, netobs_ipv6info_t *ipv6)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_ipv4info_t *ipv4,
		nobs_ipv6info_t *ipv6);

	/*
	 * IP discards a packet to be sent; pkt_reason is the reason. Does not fire for a packet that was truncated by
	 * the capture.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the endpoint; NULL if no connection is known
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] ipv4info_t * or NULL: the IPv4 header; NULL in an IPv6 packet
	 * args[5] ipv6info_t * or NULL: the IPv6 header; NULL in an IPv4 packet
	 */
	probe ip__drop__out(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_ipv4info_t *ipv4, netobs_ipv6info_t *ipv6)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_ipv4info_t *ipv4,
		nobs_ipv6info_t *ipv6);

	/*
	 * A transport passes a datagram to IP. Fires once, whatever the number of its fragments.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the sending endpoint; NULL if no connection is known
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] ipv4info_t * or NULL: the IPv4 header; NULL in an IPv6 packet
	 * args[5] ipv6info_t * or NULL: the IPv6 header; NULL in an IPv4 packet
	 */
	probe ip__request(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_ipv4info_t *ipv4, netobs_ipv6info_t *ipv6)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_ipv4info_t *ipv4,
		nobs_ipv6info_t *ipv6);

	/*
	 * IP passes a complete datagram to a transport. Fires once, whatever the number of its fragments.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the receiving endpoint; NULL if no connection is known
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] ipv4info_t * or NULL: the IPv4 header; NULL in an IPv6 packet
	 * args[5] ipv6info_t * or NULL: the IPv6 header; NULL in an IPv4 packet
	 */
	probe ip__deliver(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_ipv4info_t *ipv4, netobs_ipv6info_t *ipv6)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_ipv4info_t *ipv4,
		nobs_ipv6info_t *ipv6);

	/*
	 * netobs has finished with the packet: no other probe with its packet id follows.
	 *
	 * args[0] pktinfo_t *: the packet
	 */
	probe ip__packet__free(netobs_pktinfo_t *pkt)
	    : (nobs_pktinfo_t *pkt);

	/*
	 * An ICMP or ICMPv6 message is sent.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the local endpoint of the connection that an ICMP error quotes; else NULL
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] icmpinfo_t *: the message, and what it quotes
	 */
	probe icmp__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_icmpinfo_t *icmp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_icmpinfo_t *icmp);

	/*
	 * An ICMP or ICMPv6 message is received.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the local endpoint of the connection that an ICMP error quotes; else NULL
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] illinfo_t *: the interface
	 * args[4] icmpinfo_t *: the message, and what it quotes
	 */
	probe icmp__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_illinfo_t *ill,
		netobs_icmpinfo_t *icmp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_illinfo_t *ill, nobs_icmpinfo_t *icmp);

	/*
	 * A UDP datagram is sent. args[3] and args[4] are the same, because existing scripts expect udpinfo_t in one or
	 * the other.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the sending endpoint; NULL if the flow table has no room for it
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] udpinfo_t *: the UDP header, and the stream of the datagram
	 * args[4] udpinfo_t *: the same as args[3]
	 */
	probe udp__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_udpinfo_t *udp,
		netobs_udpinfo_t *same)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_udpinfo_t *udp, nobs_udpinfo_t *same);

	/*
	 * A UDP datagram is received. args[3] and args[4] are the same, because existing scripts expect udpinfo_t in
	 * one or the other.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the receiving endpoint; NULL if the flow table has no room for it
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] udpinfo_t *: the UDP header, and the stream of the datagram
	 * args[4] udpinfo_t *: the same as args[3]
	 */
	probe udp__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_udpinfo_t *udp,
		netobs_udpinfo_t *same)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_udpinfo_t *udp, nobs_udpinfo_t *same);

	/*
	 * The first datagram of a UDP stream is sent or received.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the endpoint
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] udpinfo_t *: the UDP header, and the stream
	 * args[4] udpinfo_t *: the same as args[3]
	 */
	probe udp__stream__start(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_udpinfo_t *udp,
		netobs_udpinfo_t *same)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_udpinfo_t *udp, nobs_udpinfo_t *same);

	/*
	 * A UDP stream ends: it has been idle for too long, or was evicted because the table is full.
	 *
	 * args[0] pktinfo_t * or NULL: NULL if a timer or an eviction ends the stream
	 * args[1] csinfo_t *: the endpoint
	 * args[2] ipinfo_t * or NULL: source, destination and size; NULL if args[0] is NULL
	 * args[3] udpinfo_t *: the stream; the header fields are 0 if args[0] is NULL
	 * args[4] udpinfo_t *: the same as args[3]
	 */
	probe udp__stream__end(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_udpinfo_t *udp,
		netobs_udpinfo_t *same)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_udpinfo_t *udp, nobs_udpinfo_t *same);

	/*
	 * A TCP segment is sent; also one that belongs to no connection, and a SYN to a closed port.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the sending endpoint; NULL if there is no connection
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t * or NULL: that endpoint after the segment; NULL if there is no connection
	 * args[4] tcpinfo_t *: the TCP header
	 */
	probe tcp__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_tcpsinfo_t *tcps,
		netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * A TCP segment is received; also one that belongs to no connection, and a SYN to a closed port.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the receiving endpoint; NULL if there is no connection
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t * or NULL: that endpoint before the segment; NULL if there is no connection
	 * args[4] tcpinfo_t *: the TCP header
	 */
	probe tcp__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_tcpsinfo_t *tcps,
		netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * A passive open completes, with the ACK of the SYN,ACK.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the endpoint that accepted
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t *: the TCP header
	 */
	probe tcp__accept__established(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * A local port refuses a connection: it answers a SYN with a RST. The packet is the outgoing RST, so ip_saddr
	 * and tcp_sport are local.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the endpoint; NULL if there is no connection
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t * or NULL: that endpoint; NULL if there is no connection
	 * args[4] tcpinfo_t *: the TCP header
	 */
	probe tcp__accept__refused(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * The first SYN of an active open; not its retransmissions.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the endpoint that connects
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t *: the TCP header
	 */
	probe tcp__connect__request(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * An active open completes: the endpoint has accepted the SYN,ACK, or the last ACK of a simultaneous open.
	 *
	 * args[0] pktinfo_t *: the packet that shows it, usually the endpoint's ACK; pkt_ts is the SYN,ACK's
	 * args[1] csinfo_t *: the endpoint that connects
	 * args[2] ipinfo_t *: source, destination and size of the SYN,ACK
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t *: the TCP header of the SYN,ACK
	 */
	probe tcp__connect__established(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * An active open is refused: a reset with ACK, or an ICMP error that ends the attempt, is received in
	 * state-syn-sent; or such an error in the state-syn-received of a simultaneous open.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the endpoint that connects
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t *: the TCP header; with an ICMP error tcp_sport and tcp_dport as of an answer, the rest 0
	 */
	probe tcp__connect__refused(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp);

	/*
	 * A local endpoint changes its state, including by timer (TIME_WAIT to CLOSED). Does not fire when a connection
	 * is first captured or picked up in mid-stream. Scripts for each of the DTrace systems work: the state before
	 * is in args[2] and in args[5], the state after in args[3].
	 *
	 * args[0] NULL: reserved
	 * args[1] csinfo_t *: the endpoint
	 * args[2] tcpsinfo_t *: the endpoint before
	 * args[3] tcpnsinfo_t *: the endpoint after
	 * args[4] NULL: reserved
	 * args[5] tcplsinfo_t *: the state before
	 */
	probe tcp__state__change(void *none0, netobs_csinfo_t *cs, netobs_tcpsinfo_t *tcps, netobs_tcpnsinfo_t *tcpns,
		void *none4, netobs_tcplsinfo_t *tcpls)
	    : (void *none0, nobs_csinfo_t *cs, nobs_tcpsinfo_t *tcps, nobs_tcpnsinfo_t *tcpns, void *none4,
		nobs_tcplsinfo_t *tcpls);

	/*
	 * Sequence space already sent is sent again: SYN, data or FIN. Not a keepalive and not a zero-window probe.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the sending endpoint
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t *: the TCP header
	 * args[5] tcprinfo_t *: kind, count and age of the retransmission
	 */
	probe tcp__retransmit(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_tcpsinfo_t *tcps,
		netobs_tcpinfo_t *tcp, netobs_tcprinfo_t *tcpr)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp,
		nobs_tcprinfo_t *tcpr);

	/*
	 * The retransmission timer expired (RFC 6298); tcp-retransmit follows.
	 *
	 * args[0] pktinfo_t * or NULL: the packet that shows the expiry; NULL if no packet shows it
	 * args[1] csinfo_t *: the endpoint whose timer it was
	 * args[2] ipinfo_t * or NULL: source, destination and size; NULL if args[0] is NULL
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t * or NULL: the TCP header; NULL if args[0] is NULL
	 * args[5] tcprinfo_t *: what is retransmitted, if anything
	 */
	probe tcp__timeout__retransmit(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp, netobs_tcprinfo_t *tcpr)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp,
		nobs_tcprinfo_t *tcpr);

	/*
	 * The persist timer expired: a zero-window probe is sent (RFC 9293 section 3.8.6.1).
	 *
	 * args[0] pktinfo_t * or NULL: the packet that shows the expiry; NULL if no packet shows it
	 * args[1] csinfo_t *: the endpoint whose timer it was
	 * args[2] ipinfo_t * or NULL: source, destination and size; NULL if args[0] is NULL
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t * or NULL: the TCP header; NULL if args[0] is NULL
	 * args[5] tcprinfo_t *: what is retransmitted, if anything
	 */
	probe tcp__timeout__persist(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp, netobs_tcprinfo_t *tcpr)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp,
		nobs_tcprinfo_t *tcpr);

	/*
	 * The keepalive timer expired: a keepalive is sent (RFC 9293 section 3.8.4).
	 *
	 * args[0] pktinfo_t * or NULL: the packet that shows the expiry; NULL if no packet shows it
	 * args[1] csinfo_t *: the endpoint whose timer it was
	 * args[2] ipinfo_t * or NULL: source, destination and size; NULL if args[0] is NULL
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t * or NULL: the TCP header; NULL if args[0] is NULL
	 * args[5] tcprinfo_t *: what is retransmitted, if anything
	 */
	probe tcp__timeout__keepalive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp, netobs_tcprinfo_t *tcpr)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp,
		nobs_tcprinfo_t *tcpr);

	/*
	 * The TIME-WAIT timer expired: 2MSL have passed (RFC 9293 section 3.6).
	 *
	 * args[0] pktinfo_t * or NULL: the packet that shows the expiry; NULL if no packet shows it
	 * args[1] csinfo_t *: the endpoint whose timer it was
	 * args[2] ipinfo_t * or NULL: source, destination and size; NULL if args[0] is NULL
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t * or NULL: the TCP header; NULL if args[0] is NULL
	 * args[5] tcprinfo_t *: what is retransmitted, if anything
	 */
	probe tcp__timeout__time__wait(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp, netobs_tcprinfo_t *tcpr)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp,
		nobs_tcprinfo_t *tcpr);

	/*
	 * A connection attempt timed out: its SYN was not answered.
	 *
	 * args[0] pktinfo_t * or NULL: the packet that shows the expiry; NULL if no packet shows it
	 * args[1] csinfo_t *: the endpoint whose timer it was
	 * args[2] ipinfo_t * or NULL: source, destination and size; NULL if args[0] is NULL
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpinfo_t * or NULL: the TCP header; NULL if args[0] is NULL
	 * args[5] tcprinfo_t *: what is retransmitted, if anything
	 */
	probe tcp__timeout__connect(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip,
		netobs_tcpsinfo_t *tcps, netobs_tcpinfo_t *tcp, netobs_tcprinfo_t *tcpr)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpinfo_t *tcp,
		nobs_tcprinfo_t *tcpr);

	/*
	 * TCP fusion: a data segment between two endpoints of this host is sent. tcp-send fires as well.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the sending endpoint
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpfinfo_t *: the data, and the other endpoint
	 */
	probe tcpf__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_tcpsinfo_t *tcps,
		netobs_tcpfinfo_t *tcpf)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpfinfo_t *tcpf);

	/*
	 * TCP fusion: a data segment between two endpoints of this host is received. tcp-receive fires as well.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the receiving endpoint
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] tcpsinfo_t *: that endpoint
	 * args[4] tcpfinfo_t *: the data, and the other endpoint
	 */
	probe tcpf__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_tcpsinfo_t *tcps,
		netobs_tcpfinfo_t *tcpf)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_tcpsinfo_t *tcps, nobs_tcpfinfo_t *tcpf);

	/*
	 * An SCTP packet is sent; also one that belongs to no association.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the sending endpoint; NULL if there is no association
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] sctpsinfo_t * or NULL: that endpoint; NULL if there is no association
	 * args[4] sctpinfo_t *: the common header and the chunks
	 */
	probe sctp__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_sctpsinfo_t *sctps,
		netobs_sctpinfo_t *sctp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_sctpsinfo_t *sctps,
		nobs_sctpinfo_t *sctp);

	/*
	 * An SCTP packet is received; also one that belongs to no association.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: the receiving endpoint; NULL if there is no association
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] sctpsinfo_t * or NULL: that endpoint; NULL if there is no association
	 * args[4] sctpinfo_t *: the common header and the chunks
	 */
	probe sctp__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_sctpsinfo_t *sctps,
		netobs_sctpinfo_t *sctp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_sctpsinfo_t *sctps,
		nobs_sctpinfo_t *sctp);

	/*
	 * A local endpoint of an association changes its state (RFC 9260 section 4).
	 *
	 * args[0] NULL: reserved
	 * args[1] csinfo_t *: the endpoint
	 * args[2] NULL: reserved
	 * args[3] sctpsinfo_t *: the endpoint after
	 * args[4] NULL: reserved
	 * args[5] sctplsinfo_t *: the state before
	 */
	probe sctp__state__change(void *none0, netobs_csinfo_t *cs, void *none2, netobs_sctpsinfo_t *sctps, void *none4,
		netobs_sctplsinfo_t *sctpls)
	    : (void *none0, nobs_csinfo_t *cs, void *none2, nobs_sctpsinfo_t *sctps, void *none4,
		nobs_sctplsinfo_t *sctpls);

	/*
	 * A DCCP packet is sent.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: NULL, because DCCP is not tracked as a connection
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] NULL: reserved for the state of the connection
	 * args[4] dccpinfo_t *: the DCCP header
	 */
	probe dccp__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, void *none3,
		netobs_dccpinfo_t *dccp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, void *none3, nobs_dccpinfo_t *dccp);

	/*
	 * A DCCP packet is received.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t * or NULL: NULL, because DCCP is not tracked as a connection
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] NULL: reserved for the state of the connection
	 * args[4] dccpinfo_t *: the DCCP header
	 */
	probe dccp__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, void *none3,
		netobs_dccpinfo_t *dccp)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, void *none3, nobs_dccpinfo_t *dccp);

	/*
	 * Application bytes are accepted from a socket: new stream bytes in order, each once, or one UDP datagram.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the endpoint
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] sockinfo_t *: the socket and the bytes
	 */
	probe socket__send(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_sockinfo_t *so)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_sockinfo_t *so);

	/*
	 * Application bytes are delivered to a socket: stream bytes in order, each once and no gap, or one UDP
	 * datagram.
	 *
	 * args[0] pktinfo_t *: the packet
	 * args[1] csinfo_t *: the endpoint
	 * args[2] ipinfo_t *: source, destination and size
	 * args[3] sockinfo_t *: the socket and the bytes
	 */
	probe socket__receive(netobs_pktinfo_t *pkt, netobs_csinfo_t *cs, netobs_ipinfo_t *ip, netobs_sockinfo_t *so)
	    : (nobs_pktinfo_t *pkt, nobs_csinfo_t *cs, nobs_ipinfo_t *ip, nobs_sockinfo_t *so);

	/*
	 * The target sends an asynchronous message (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__async__send(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives a login request (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__login__command(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target sends a login response (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__login__response(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives a logout request (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__logout__command(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target sends a logout response (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__logout__response(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives data (Data-Out) (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__data__receive(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target requests data (R2T) (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__data__request(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target sends data (Data-In) (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__data__send(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives a NOP-Out (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__nop__receive(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target sends a NOP-In (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__nop__send(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives a SCSI command (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 * args[2] iscsicmd_t *: the command
	 */
	probe iscsi__scsi__command(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii, netobs_iscsicmd_t *ic)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii, nobs_iscsicmd_t *ic);

	/*
	 * The target sends a SCSI response (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__scsi__response(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives a task management request (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__task__command(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target sends a task management response (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__task__response(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target receives a text request (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__text__command(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * The target sends a text response (RFC 7143).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] iscsiinfo_t *: the PDU and its session
	 */
	probe iscsi__text__response(netobs_conninfo_t *ci, netobs_iscsiinfo_t *ii)
	    : (nobs_conninfo_t *ci, nobs_iscsiinfo_t *ii);

	/*
	 * A DNS server receives a query (RFC 1035). On UDP each copy of a query fires it, retries included.
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] dnsinfo_t *: the message
	 */
	probe dns__query(netobs_conninfo_t *ci, netobs_dnsinfo_t *dns)
	    : (nobs_conninfo_t *ci, nobs_dnsinfo_t *dns);

	/*
	 * A DNS server sends a response (RFC 1035).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] dnsinfo_t *: the message
	 */
	probe dns__response(netobs_conninfo_t *ci, netobs_dnsinfo_t *dns)
	    : (nobs_conninfo_t *ci, nobs_dnsinfo_t *dns);

	/*
	 * A DNS query has not been answered within --app-timeout. Fires in packet time, once for a query and its
	 * retries.
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] dnsinfo_t *: the query
	 */
	probe dns__timeout(netobs_conninfo_t *ci, netobs_dnsinfo_t *dns)
	    : (nobs_conninfo_t *ci, nobs_dnsinfo_t *dns);

	/*
	 * A TLS server receives a ClientHello (RFC 8446).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] tlsinfo_t *: the handshake up to this message
	 */
	probe tls__client__hello(netobs_conninfo_t *ci, netobs_tlsinfo_t *tls)
	    : (nobs_conninfo_t *ci, nobs_tlsinfo_t *tls);

	/*
	 * A TLS server sends a ServerHello (RFC 8446).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] tlsinfo_t *: the handshake up to this message
	 */
	probe tls__server__hello(netobs_conninfo_t *ci, netobs_tlsinfo_t *tls)
	    : (nobs_conninfo_t *ci, nobs_tlsinfo_t *tls);

	/*
	 * A TLS handshake is complete as far as the records show (RFC 8446, RFC 5246).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] tlsinfo_t *: the handshake up to this message
	 */
	probe tls__established(netobs_conninfo_t *ci, netobs_tlsinfo_t *tls)
	    : (nobs_conninfo_t *ci, nobs_tlsinfo_t *tls);

	/*
	 * Either end sends a TLS alert during the handshake (RFC 8446).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] tlsinfo_t *: the handshake up to this message
	 */
	probe tls__alert(netobs_conninfo_t *ci, netobs_tlsinfo_t *tls)
	    : (nobs_conninfo_t *ci, nobs_tlsinfo_t *tls);

	/*
	 * An HTTP server receives a request (RFC 9112): its header is complete.
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] httpinfo_t *: the request, and its response as far as it is known
	 */
	probe http__request__start(netobs_conninfo_t *ci, netobs_httpinfo_t *rq)
	    : (nobs_conninfo_t *ci, nobs_httpinfo_t *rq);

	/*
	 * An HTTP request is done: its response is complete, or the connection has ended without one.
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] httpinfo_t *: the request, and its response as far as it is known
	 */
	probe http__request__done(netobs_conninfo_t *ci, netobs_httpinfo_t *rq)
	    : (nobs_conninfo_t *ci, nobs_httpinfo_t *rq);

	/*
	 * An SMB server receives a request (MS-SMB2).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] smbopinfo_t *: the operation
	 */
	probe smb__op__start(netobs_conninfo_t *ci, netobs_smbopinfo_t *soi)
	    : (nobs_conninfo_t *ci, nobs_smbopinfo_t *soi);

	/*
	 * An SMB server sends the final response to a request (MS-SMB2).
	 *
	 * args[0] conninfo_t *: the connection
	 * args[1] smbopinfo_t *: the operation
	 */
	probe smb__op__done(netobs_conninfo_t *ci, netobs_smbopinfo_t *soi)
	    : (nobs_conninfo_t *ci, nobs_smbopinfo_t *soi);

	/*
	 * A connection has ended: a TCP connection, a UDP stream or an SCTP association. Fires once for the connection,
	 * not for each of its ends, after the event that ends it; at the end of the capture for what is still open.
	 *
	 * args[0] connrec_t *: the record of the connection
	 */
	probe connection__end(netobs_connrec_t *cr)
	    : (nobs_connrec_t *cr);

	/*
	 * A connection is still open. Fires after each interval of --active-records since its first packet, unless it
	 * was idle in that interval; never if the option is not set.
	 *
	 * args[0] connrec_t *: the record of the connection up to now
	 */
	probe connection__active(netobs_connrec_t *cr)
	    : (nobs_connrec_t *cr);
};

#pragma D attributes Evolving/Evolving/Common provider netobs provider
#pragma D attributes Private/Private/Unknown provider netobs module
#pragma D attributes Private/Private/Unknown provider netobs function
#pragma D attributes Evolving/Evolving/Common provider netobs name
#pragma D attributes Evolving/Evolving/Common provider netobs args
