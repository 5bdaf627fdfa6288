/* SPDX-License-Identifier: BSD-2-Clause */
/* The text lines of connection-end and connection-active. */
#include <assert.h>
#include <string.h>

#include "probes/names.h"
#include "probes/netobs.h"
#include "probes/print/print_internal.h"
#include "probes/print/text_line.h"

#define PUT_OWNER(at, end, pid, comm) put_connection_owner((at), (end), (pid), (comm), sizeof(comm))

static char *
put_connection_owner(char *at, const char *end, int32_t pid, const char *comm, size_t size)
{
	if (pid < 0)
		return at;
	at = PUT(at, ", ");
	at = put_string(at, end);
	at = PUT(at, " pid ");
	at = put_i64(at, pid);
	at = PUT(at, " (");
	at = put_plain_text(at, comm, size);
	*at++ = ')';
	return at;
}

static char *
put_connection_sent(char *at, const char *end, uint64_t segments, uint64_t bytes)
{
	at = PUT(at, ", ");
	at = put_string(at, end);
	at = PUT(at, " sent ");
	at = put_u64(at, bytes);
	at = PUT(at, " bytes in ");
	at = put_u64(at, segments);
	return PUT(at, " packets");
}

static char *
put_connection_trouble(char *at, const struct connrec *cr)
{
	if (cr->cr_client_resent + cr->cr_server_resent != 0) {
		at = PUT(at, ", resent ");
		at = put_u64(at, cr->cr_client_resent + cr->cr_server_resent);
	}
	if (cr->cr_rtt_samples != 0) {
		at = PUT(at, ", rtt ");
		at = put_i64(at, cr->cr_rtt_mean_us);
		at = PUT(at, " us");
	}
	if (cr->cr_exchanges != 0) {
		at = PUT(at, ", answer ");
		at = put_i64(at, cr->cr_answer_mean_us);
		at = PUT(at, " us");
	}
	return at;
}

static char *
text_connection(char *at, const struct text_firing *firing)
{
	const struct connrec *cr = firing->arg[STRUCT_CONNREC];

	if (cr == NULL)
		return at;
	at = PUT_ENDPOINT(at, cr->cr_client, cr->cr_client_port);
	at = PUT(at, " > ");
	at = PUT_ENDPOINT(at, cr->cr_server, cr->cr_server_port);
	at = PUT(at, ": ");
	at = PUT_FIELD(at, cr->cr_protostr);
	*at++ = ' ';
	at = PUT_FIELD(at, cr->cr_reason);
	if (cr->cr_icmp_str[0] != '\0') {
		at = PUT(at, " (");
		at = PUT_FIELD(at, cr->cr_icmp_str);
		at = PUT(at, ", from ");
		at = PUT_FIELD(at, cr->cr_icmp_sender);
		*at++ = ')';
	}
	at = PUT(at, ", ");
	at = put_u64(at, cr->cr_duration_us);
	at = PUT(at, " us");
	at = put_connection_sent(at, "client", cr->cr_client_segments, cr->cr_client_bytes);
	at = put_connection_sent(at, "server", cr->cr_server_segments, cr->cr_server_bytes);
	at = put_connection_trouble(at, cr);
	at = PUT(at, ", uid ");
	at = put_hex64(at, cr->cr_uid);
	at = PUT_OWNER(at, "client", cr->cr_client_pid, cr->cr_client_comm);
	at = PUT_OWNER(at, "server", cr->cr_server_pid, cr->cr_server_comm);
	if (cr->cr_anomaly[0] != '\0') {
		at = PUT(at, " [");
		at = PUT_FIELD(at, cr->cr_anomaly);
		*at++ = ']';
	}
	return at;
}

/*
 * Firings as lines of text.  One formatter per family of probes; the first struct of text_families that a probe has
 * selects its family, so a new probe of a known family needs no code here.  Application providers add families of their
 * own.
 */

static bool
text_is_known(const char *text)
{
	return text[0] != '\0' && text[0] != '<';
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

static char *
put_endpoints(char *at, const struct ipinfo *ip, unsigned sport, unsigned dport)
{
	at = PUT_ENDPOINT(at, ip->ip_saddr, sport);
	at = PUT(at, " > ");
	return PUT_ENDPOINT(at, ip->ip_daddr, dport);
}

static char *
put_addresses(char *at, const struct ipinfo *ip)
{
	at = PUT_FIELD(at, ip->ip_saddr);
	at = PUT(at, " > ");
	return PUT_FIELD(at, ip->ip_daddr);
}

static char *
put_interface_name(char *at, const struct text_firing *firing)
{
	const struct illinfo *ill = firing->arg[STRUCT_ILLINFO];

	if (ill == NULL || !text_is_known(ill->if_name))
		return at;
	at = PUT_FIELD(at, ill->if_name);
	*at++ = ' ';
	return at;
}

/* Fields that end every line. */
static char *
put_common_fields(char *at, const struct text_firing *firing)
{
	const struct pktinfo *pkt = firing->arg[STRUCT_PKTINFO];
	const struct csinfo *cs = firing->arg[STRUCT_CSINFO];

	if (cs != NULL) {
		at = PUT(at, ", cid ");
		at = put_u64(at, cs->cs_cid);
	}
	if (cs != NULL && cs->cs_pid >= 0) {
		at = PUT(at, ", pid ");
		at = put_i64(at, cs->cs_pid);
		at = PUT(at, " (");
		at = PUT_FIELD(at, cs->cs_comm);
		*at++ = ')';
	}
	if (pkt != NULL && memcmp(pkt->pkt_csum, "bad", sizeof "bad") == 0)
		at = PUT(at, ", bad checksum");
	if (pkt != NULL && pkt->pkt_reason[0] != '\0') {
		at = PUT(at, " [");
		at = PUT_FIELD(at, pkt->pkt_reason);
		*at++ = ']';
	}
	return at;
}

/* --------------------------------------------------------------------------------------------------------- families */

/* A probe that reports a packet only. */
static char *
text_packet(char *at, const struct text_firing *firing)
{
	const struct pktinfo *pkt = firing->arg[STRUCT_PKTINFO];

	if (pkt == NULL)
		return at;
	at = PUT(at, "packet ");
	at = put_u64(at, pkt->pkt_addr);
	at = PUT(at, ", length ");
	return put_u32(at, pkt->pkt_len);
}

static char *
put_vlan_tag(char *at, const struct etherinfo *ether)
{
	if (!ether->eth_istagged)
		return at;
	at = PUT(at, ", vlan ");
	at = put_u32(at, ether->eth_vlanid);
	at = PUT(at, ", priority ");
	at = put_u32(at, ether->eth_priority);
	return ether->eth_dei ? PUT(at, ", dei") : at;
}

static char *
text_gld(char *at, const struct text_firing *firing)
{
	const struct etherinfo *ether = firing->arg[STRUCT_ETHERINFO];
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];

	at = put_interface_name(at, firing);
	if (ether == NULL)
		return text_packet(at, firing);
	if (text_is_known(ether->eth_shost)) {
		at = PUT_FIELD(at, ether->eth_shost);
		at = PUT(at, " > ");
		at = PUT_FIELD(at, ether->eth_dhost);
		at = PUT(at, ", ");
	}
	at = PUT(at, "type ");
	at = put_hex(at, ether->eth_type, 4);
	at = put_vlan_tag(at, ether);
	at = PUT(at, ", length ");
	at = put_u32(at, ether->eth_length);
	if (ip == NULL)
		return at;
	at = PUT(at, ", ");
	return put_addresses(at, ip);
}

static char *
text_arp(char *at, const struct text_firing *firing)
{
	const struct arpinfo *arp = firing->arg[STRUCT_ARPINFO];

	at = put_interface_name(at, firing);
	if (arp == NULL)
		return at;
	at = PUT_FIELD(at, arp->arp_opstr);
	*at++ = ' ';
	at = PUT_FIELD(at, arp->arp_spa);
	at = PUT(at, " (");
	at = PUT_FIELD(at, arp->arp_sha);
	at = PUT(at, ") > ");
	at = PUT_FIELD(at, arp->arp_tpa);
	at = PUT(at, " (");
	at = PUT_FIELD(at, arp->arp_tha);
	*at++ = ')';
	return at;
}

static char *
put_ipv4(char *at, const struct ipv4info *ipv4)
{
	enum { MORE_FRAGMENTS = 1, DONT_FRAGMENT = 2 };

	at = PUT(at, ", ttl ");
	at = put_u32(at, ipv4->ipv4_ttl);
	at = PUT(at, ", id ");
	at = put_u32(at, ipv4->ipv4_ident);
	if (ipv4->ipv4_flags & DONT_FRAGMENT)
		at = PUT(at, ", DF");
	if (ipv4->ipv4_offset != 0 || ipv4->ipv4_flags & MORE_FRAGMENTS) {
		at = PUT(at, ", fragment at ");
		at = put_u32(at, ipv4->ipv4_offset * 8u);
		if (ipv4->ipv4_flags & MORE_FRAGMENTS)
			*at++ = '+';
	}
	if (ipv4->ipv4_tos != 0) {
		at = PUT(at, ", tos ");
		at = put_hex(at, ipv4->ipv4_tos, 2);
	}
	return at;
}

static char *
put_ipv6(char *at, const struct ipv6info *ipv6)
{
	at = PUT(at, ", hlim ");
	at = put_u32(at, ipv6->ipv6_hlim);
	if (ipv6->ipv6_flow != 0) {
		at = PUT(at, ", flow ");
		at = put_hex(at, ipv6->ipv6_flow, 5);
	}
	if (ipv6->ipv6_tclass != 0) {
		at = PUT(at, ", class ");
		at = put_hex(at, ipv6->ipv6_tclass, 2);
	}
	return at;
}

static char *
text_ip(char *at, const struct text_firing *firing)
{
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];
	const struct ipv4info *ipv4 = firing->arg[STRUCT_IPV4INFO];
	const struct ipv6info *ipv6 = firing->arg[STRUCT_IPV6INFO];

	at = put_interface_name(at, firing);
	if (ip == NULL)
		return text_packet(at, firing);
	at = put_addresses(at, ip);
	at = PUT(at, ": ");
	if (ipv4 != NULL)
		at = PUT_FIELD(at, ipv4->ipv4_protostr);
	else if (ipv6 != NULL)
		at = PUT_FIELD(at, ipv6->ipv6_nextstr);
	at = PUT(at, ", payload ");
	at = put_u32(at, ip->ip_plength);
	if (ipv4 != NULL)
		at = put_ipv4(at, ipv4);
	if (ipv6 != NULL)
		at = put_ipv6(at, ipv6);
	return at;
}

/* The packet that an ICMP error quotes; not every protocol has ports. */
static char *
put_icmp_quote(char *at, const struct icmpinfo *icmp)
{
	bool ports = icmp->icmp_error_sport != 0 || icmp->icmp_error_dport != 0;

	if (!text_is_known(icmp->icmp_error_saddr))
		return at;
	at = PUT(at, ", about ");
	at = ports ? PUT_ENDPOINT(at, icmp->icmp_error_saddr, icmp->icmp_error_sport)
		   : PUT_FIELD(at, icmp->icmp_error_saddr);
	at = PUT(at, " > ");
	at = ports ? PUT_ENDPOINT(at, icmp->icmp_error_daddr, icmp->icmp_error_dport)
		   : PUT_FIELD(at, icmp->icmp_error_daddr);
	at = PUT(at, " protocol ");
	return put_u32(at, icmp->icmp_error_protocol);
}

static char *
put_icmp_fields(char *at, const struct icmpinfo *icmp)
{
	bool echo = icmp->icmp_version == 6 ? icmp->icmp_type == 128 || icmp->icmp_type == 129
					    : icmp->icmp_type == 8 || icmp->icmp_type == 0;

	if (echo) {
		at = PUT(at, ", id ");
		at = put_u32(at, icmp->icmp_echo_id);
		at = PUT(at, ", seq ");
		at = put_u32(at, icmp->icmp_echo_seq);
	}
	if (icmp->icmp_pmtu_update != 0) {
		at = PUT(at, ", mtu ");
		at = put_u32(at, icmp->icmp_pmtu_update);
	}
	if (text_is_known(icmp->icmp_redirect_gateway)) {
		at = PUT(at, ", gateway ");
		at = PUT_FIELD(at, icmp->icmp_redirect_gateway);
	}
	if (text_is_known(icmp->icmp6_nd_target)) {
		at = PUT(at, ", target ");
		at = PUT_FIELD(at, icmp->icmp6_nd_target);
	}
	return put_icmp_quote(at, icmp);
}

static char *
text_icmp(char *at, const struct text_firing *firing)
{
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];
	const struct icmpinfo *icmp = firing->arg[STRUCT_ICMPINFO];

	at = put_interface_name(at, firing);
	if (ip == NULL || icmp == NULL)
		return text_packet(at, firing);
	at = put_addresses(at, ip);
	at = PUT(at, ": ");
	if (text_is_known(icmp->icmp_typestr)) {
		at = PUT_FIELD(at, icmp->icmp_typestr);
	} else {
		at = PUT(at, "type ");
		at = put_u32(at, icmp->icmp_type);
	}
	if (text_is_known(icmp->icmp_codestr)) {
		at = PUT(at, ": ");
		at = PUT_FIELD(at, icmp->icmp_codestr);
	} else if (icmp->icmp_code != 0) {
		at = PUT(at, ", code ");
		at = put_u32(at, icmp->icmp_code);
	}
	return put_icmp_fields(at, icmp);
}

static char *
put_tcp_header(char *at, const struct tcpinfo *tcp)
{
	at = PUT(at, ": ");
	at = tcp->tcp_flagstr[0] != '\0' ? PUT_FIELD(at, tcp->tcp_flagstr) : PUT(at, "no flags");
	at = PUT(at, ", seq ");
	at = put_u32(at, tcp->tcp_seq);
	if (tcp->tcp_flags & NETOBS_TH_ACK) {
		at = PUT(at, ", ack ");
		at = put_u32(at, tcp->tcp_ack);
	}
	at = PUT(at, ", win ");
	at = put_u32(at, tcp->tcp_window);
	if (tcp->tcp_flags & NETOBS_TH_URG) {
		at = PUT(at, ", urg ");
		at = put_u32(at, tcp->tcp_urgent);
	}
	at = PUT(at, ", length ");
	return put_u32(at, tcp->tcp_payload);
}

static char *
put_retransmission(char *at, const struct tcprinfo *tcpr)
{
	if (tcpr->tcpr_kind == 0)
		return at;
	at = PUT(at, ", ");
	at = PUT_FIELD(at, tcpr->tcpr_kindstr);
	at = PUT(at, ", sent ");
	at = put_u32(at, tcpr->tcpr_count);
	at = PUT(at, " times, after ");
	at = put_u64(at, tcpr->tcpr_elapsed_us);
	return PUT(at, " us");
}

/* Segments and the events that they cause; an event of a timer or of an ICMP error has no TCP header.  An error has the
 * words of text_connection(). */
static char *
text_tcp(char *at, const struct text_firing *firing)
{
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];
	const struct tcpinfo *tcp = firing->arg[STRUCT_TCPINFO];
	const struct tcpsinfo *tcps = firing->arg[STRUCT_TCPSINFO];
	const struct tcprinfo *tcpr = firing->arg[STRUCT_TCPRINFO];
	const struct icmpinfo *icmp = firing->arg[STRUCT_ICMPINFO];

	if (ip != NULL && tcp != NULL && tcp->tcp_offset != 0) {
		at = put_endpoints(at, ip, tcp->tcp_sport, tcp->tcp_dport);
		at = put_tcp_header(at, tcp);
	} else if (tcps != NULL) {
		at = PUT_LOCAL_REMOTE(at, tcps->tcps_laddr, tcps->tcps_lport, tcps->tcps_raddr, tcps->tcps_rport);
	}
	if (ip != NULL && icmp != NULL) {
		at = PUT(at, ": unreachable (");
		at = put_string(at, icmp_error_words(icmp->icmp_version, icmp->icmp_type, icmp->icmp_code));
		at = PUT(at, ", from ");
		at = PUT_FIELD(at, ip->ip_saddr);
		*at++ = ')';
	}
	if (tcpr != NULL)
		at = put_retransmission(at, tcpr);
	if (tcps != NULL) {
		at = PUT(at, ", ");
		at = PUT_FIELD(at, tcps->tcps_statestr);
	}
	return at;
}

static char *
text_tcp_state(char *at, const struct text_firing *firing)
{
	const struct tcpnsinfo *after = firing->arg[STRUCT_TCPNSINFO];
	const struct tcplsinfo *before = firing->arg[STRUCT_TCPLSINFO];

	if (after == NULL || before == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, after->tcps_laddr, after->tcps_lport, after->tcps_raddr, after->tcps_rport);
	at = PUT(at, ": ");
	at = PUT_FIELD(at, before->tcps_statestr);
	at = PUT(at, " -> ");
	return PUT_FIELD(at, after->tcps_statestr);
}

static char *
text_tcpf(char *at, const struct text_firing *firing)
{
	const struct tcpsinfo *tcps = firing->arg[STRUCT_TCPSINFO];
	const struct tcpfinfo *tcpf = firing->arg[STRUCT_TCPFINFO];

	if (tcps == NULL || tcpf == NULL)
		return text_packet(at, firing);
	at = PUT_LOCAL_REMOTE(at, tcps->tcps_laddr, tcps->tcps_lport, tcps->tcps_raddr, tcps->tcps_rport);
	at = PUT(at, ": seq ");
	at = put_u32(at, tcpf->tcpf_seq);
	at = PUT(at, ", length ");
	at = put_u32(at, tcpf->tcpf_len);
	at = PUT(at, ", peer cid ");
	at = put_u64(at, tcpf->tcpf_peer_cid);
	if (tcpf->tcpf_peer_pid >= 0) {
		at = PUT(at, ", peer pid ");
		at = put_i64(at, tcpf->tcpf_peer_pid);
	}
	return at;
}

static char *
text_udp(char *at, const struct text_firing *firing)
{
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];
	const struct udpinfo *udp = firing->arg[STRUCT_UDPINFO];

	if (ip == NULL || udp == NULL)
		return text_packet(at, firing);
	at = put_endpoints(at, ip, udp->udp_sport, udp->udp_dport);
	at = PUT(at, ": length ");
	return put_u32(at, udp->udp_length);
}

static char *
text_udp_stream(char *at, const struct text_firing *firing)
{
	const struct udpinfo *udp = firing->arg[STRUCT_UDPINFO];

	if (udp == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, udp->udps_laddr, udp->udps_lport, udp->udps_raddr, udp->udps_rport);
	at = PUT(at, ": sent ");
	at = put_u64(at, udp->udps_snd_datagrams);
	at = PUT(at, " datagrams, ");
	at = put_u64(at, udp->udps_snd_bytes);
	at = PUT(at, " bytes, received ");
	at = put_u64(at, udp->udps_rcv_datagrams);
	at = PUT(at, " datagrams, ");
	at = put_u64(at, udp->udps_rcv_bytes);
	return PUT(at, " bytes");
}

static char *
put_sctp_state(char *at, int32_t state)
{
	static const char *const names[] = {
	    "<unknown>", "closed", "cookie-wait", "cookie-echoed", "established",
	    "shutdown-pending", "shutdown-sent", "shutdown-received", "shutdown-ack-sent",
	};
	bool known = state >= 0 && (size_t)state < sizeof names / sizeof names[0];

	return put_string(at, names[known ? state : 0]);
}

static char *
put_sctp_chunk(char *at, uint32_t type)
{
	const char *name = sctp_chunk_name(type);

	if (name != NULL)
		return put_string(at, name);
	at = PUT(at, "chunk ");
	return put_u32(at, type);
}

static char *
text_sctp(char *at, const struct text_firing *firing)
{
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];
	const struct sctpinfo *sctp = firing->arg[STRUCT_SCTPINFO];
	const struct sctpsinfo *sctps = firing->arg[STRUCT_SCTPSINFO];

	if (ip == NULL || sctp == NULL)
		return text_packet(at, firing);
	at = put_endpoints(at, ip, sctp->sctp_sport, sctp->sctp_dport);
	at = PUT(at, ": ");
	if (sctp->sctp_chunk_count > 0) {
		at = put_sctp_chunk(at, sctp->sctp_chunk_type);
		at = PUT(at, ", ");
	}
	at = put_u32(at, sctp->sctp_chunk_count);
	at = PUT(at, " chunks, tag ");
	at = put_hex(at, sctp->sctp_verify, 8);
	if (sctps != NULL) {
		at = PUT(at, ", ");
		at = put_sctp_state(at, sctps->sctps_state);
	}
	return at;
}

static char *
text_sctp_state(char *at, const struct text_firing *firing)
{
	const struct sctpsinfo *after = firing->arg[STRUCT_SCTPSINFO];
	const struct sctplsinfo *before = firing->arg[STRUCT_SCTPLSINFO];

	if (after == NULL || before == NULL)
		return at;
	at = PUT_LOCAL_REMOTE(at, after->sctps_laddr, after->sctps_lport, after->sctps_raddr, after->sctps_rport);
	at = PUT(at, ": ");
	at = put_sctp_state(at, before->sctps_state);
	at = PUT(at, " -> ");
	return put_sctp_state(at, after->sctps_state);
}

/* The fields after the generic header, if the packet has them (RFC 4340 section 5.1). */
static char *
put_dccp_fields(char *at, const struct dccpinfo *dccp)
{
	uint32_t type = dccp->dccp_type;

	if (type > NETOBS_DCCP_SYNC_ACK ||
	    (dccp->dccp_x == 0 && type != NETOBS_DCCP_ACK && type != NETOBS_DCCP_DATA_ACK))
		return at;
	if (type != NETOBS_DCCP_REQUEST && type != NETOBS_DCCP_DATA) {
		at = PUT(at, ", ack ");
		at = put_u64(at, dccp->dccp_ack);
	}
	if (type == NETOBS_DCCP_REQUEST || type == NETOBS_DCCP_RESPONSE) {
		at = PUT(at, ", service ");
		at = put_u32(at, dccp->dccp_service);
	}
	if (type == NETOBS_DCCP_RESET) {
		at = PUT(at, ", ");
		if (text_is_known(dccp->dccp_resetstr))
			return PUT_FIELD(at, dccp->dccp_resetstr);
		at = PUT(at, "code ");
		at = put_u32(at, dccp->dccp_reset);
	}
	return at;
}

static char *
text_dccp(char *at, const struct text_firing *firing)
{
	const struct ipinfo *ip = firing->arg[STRUCT_IPINFO];
	const struct dccpinfo *dccp = firing->arg[STRUCT_DCCPINFO];

	if (ip == NULL || dccp == NULL)
		return text_packet(at, firing);
	at = put_endpoints(at, ip, dccp->dccp_sport, dccp->dccp_dport);
	at = PUT(at, ": ");
	if (text_is_known(dccp->dccp_typestr)) {
		at = PUT_FIELD(at, dccp->dccp_typestr);
	} else {
		at = PUT(at, "type ");
		at = put_u32(at, dccp->dccp_type);
	}
	at = PUT(at, ", seq ");
	at = put_u64(at, dccp->dccp_seq);
	at = put_dccp_fields(at, dccp);
	at = PUT(at, ", length ");
	return put_u32(at, dccp->dccp_payload);
}

static char *
text_socket(char *at, const struct text_firing *firing)
{
	const struct sockinfo *so = firing->arg[STRUCT_SOCKINFO];

	if (so == NULL)
		return text_packet(at, firing);
	at = PUT_ENDPOINT(at, so->so_laddr, so->so_lport);
	at = firing->receives ? PUT(at, " < ") : PUT(at, " > ");
	at = PUT_ENDPOINT(at, so->so_raddr, so->so_rport);
	at = PUT(at, ": ");
	at = put_u32(at, so->so_bytes);
	at = PUT(at, " bytes at ");
	at = put_u64(at, so->so_offset);
	if (so->so_uid >= 0) {
		at = PUT(at, ", uid ");
		at = put_i64(at, so->so_uid);
	}
	return at;
}

/* -------------------------------------------------------------------------------------------------------- selection */

/* The first struct of this list that a probe has selects its family. */
static const struct text_family text_families[] = {
	{STRUCT_ARPINFO, text_arp},
	{STRUCT_ETHERINFO, text_gld},
	{STRUCT_ICMPINFO, text_icmp},
	{STRUCT_TCPNSINFO, text_tcp_state},
	{STRUCT_TCPFINFO, text_tcpf},
	{STRUCT_TCPINFO, text_tcp},
	{STRUCT_UDPINFO, text_udp},
	{STRUCT_SCTPINFO, text_sctp},
	{STRUCT_SCTPLSINFO, text_sctp_state},
	{STRUCT_DCCPINFO, text_dccp},
	{STRUCT_SOCKINFO, text_socket},
	{STRUCT_CONNREC, text_connection},
	{STRUCT_IPV4INFO, text_ip},
};

/* Families of application providers. */
static const struct text_family *text_families_added[TEXT_FAMILIES_ADDED_MAX];
static unsigned text_families_added_count;

void
text_add_family(const struct text_family *family)
{
	for (unsigned i = 0; i < text_families_added_count; i++)
		if (text_families_added[i] == family)
			return;
	assert(text_families_added_count < TEXT_FAMILIES_ADDED_MAX);
	text_families_added[text_families_added_count++] = family;
}

static bool
text_probe_has_struct(const struct probe_info *probe, enum struct_id id)
{
	for (unsigned i = 0; i < probe->arg_count; i++)
		if (probe->args[i].type == &manifest_structs[id])
			return true;
	return false;
}

static text_formatter *
text_formatter_for(const struct probe_info *probe)
{
	if (strncmp(probe->name, "udp-stream-", 11) == 0)
		return text_udp_stream;
	for (size_t i = 0; i < sizeof text_families / sizeof text_families[0]; i++)
		if (text_probe_has_struct(probe, text_families[i].id))
			return text_families[i].formatter;
	for (unsigned i = 0; i < text_families_added_count; i++)
		if (text_probe_has_struct(probe, text_families_added[i]->id))
			return text_families_added[i]->formatter;
	return text_packet;
}

static bool
text_probe_receives(const struct probe_info *probe)
{
	static const char ending[] = "-receive";
	size_t length = strlen(probe->name), ending_length = sizeof ending - 1;

	return length > ending_length && strcmp(probe->name + length - ending_length, ending) == 0;
}

void
print_text_prepare(struct printer *printer)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		printer->text[i] = text_formatter_for(&manifest_probes[i]);
		printer->text_receives[i] = text_probe_receives(&manifest_probes[i]);
	}
}

static void
text_index_arguments(struct text_firing *firing, const struct probe_info *probe, const void *const args[6])
{
	memset(firing, 0, sizeof *firing);
	for (unsigned i = 0; i < probe->arg_count; i++)
		if (probe->args[i].type != NULL)
			firing->arg[probe->args[i].type - manifest_structs] = args[i];
}

/* Each probe has an argument with a time. */
static uint64_t
text_firing_time(const struct text_firing *firing)
{
	const struct pktinfo *pkt = firing->arg[STRUCT_PKTINFO];
	const struct csinfo *cs = firing->arg[STRUCT_CSINFO];
	const struct conninfo *ci = firing->arg[STRUCT_CONNINFO];
	const struct connrec *cr = firing->arg[STRUCT_CONNREC];

	if (cr != NULL)
		return cr->cr_end;
	return pkt != NULL ? pkt->pkt_ts : cs != NULL ? cs->cs_ts : ci != NULL ? ci->ci_ts : 0;
}

char *
print_text_line(struct printer *printer, const char *formula, enum probe_id id, const void *const args[6], char *at)
{
	const struct probe_info *probe = &manifest_probes[id];
	struct text_firing firing;

	text_index_arguments(&firing, probe, args);
	firing.receives = printer->text_receives[id];
	if (id == PROBE_TCP_CONNECT_REFUSED)
		firing.arg[STRUCT_ICMPINFO] = args[5];
	at = put_time(at, &printer->clock, text_firing_time(&firing));
	*at++ = ' ';
	at = put_string(at, formula != NULL ? formula : probe->name);
	*at++ = ' ';
	at = printer->text[id](at, &firing);
	at = put_common_fields(at, &firing);
	*at++ = '\n';
	return at;
}
