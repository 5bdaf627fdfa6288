/* SPDX-License-Identifier: BSD-2-Clause */
/* An HTTPS request from 192.0.2.1 to 198.51.100.2 (RFC 5737), and samples of everything else that a probe can
 * report. */
#include "tests/probes/probe_args_sample.h"

#include <arpa/inet.h>
#include <string.h>

static void
sample_fill_packet(struct probe_args_sample *s)
{
	s->pktinfo = (struct pktinfo){
	    .pkt_addr = 7, .pkt_ts = 1795172523123456789, .pkt_len = 98, .pkt_caplen = 96, .pkt_data = 0x1000,
	    .pkt_link = 1, .pkt_csum = "ok", .pkt_reason = "", .pkt_seq = 3};
	s->csinfo = (struct csinfo){
	    .cs_addr = 0xffff8880deadbeef, .cs_cid = 12, .cs_pid = -1, .cs_zoneid = 4026531840,
	    .cs_ts = 1795172523123456789, .cs_seq = 5, .cs_comm = "<unknown>"};
	s->ipinfo = (struct ipinfo){.ip_ver = 4, .ip_plength = 64, .ip_saddr = "192.0.2.1", .ip_daddr = "198.51.100.2"};
	s->illinfo = (struct illinfo){.if_name = "eth0", .if_local = 0, .if_ipstack = 4026531840, .if_addr = 2};
	s->ifinfo = (struct ifinfo){.if_name = "lo", .if_local = 1, .if_ipstack = 4026531840, .if_addr = 1};
	s->etherinfo = (struct etherinfo){
	    .eth_dst = {0x00, 0x00, 0x5e, 0x00, 0x53, 0x02}, .eth_src = {0x00, 0x00, 0x5e, 0x00, 0x53, 0x01},
	    .eth_type = 0x0800, .eth_istagged = 1, .eth_priority = 5, .eth_dei = 1, .eth_vlanid = 4094,
	    .eth_header = 0x1000, .eth_shost = "00:00:5e:00:53:01", .eth_dhost = "00:00:5e:00:53:02",
	    .eth_length = 98};
	s->arpinfo = (struct arpinfo){
	    .arp_htype = 1, .arp_ptype = 0x0800, .arp_hlen = 6, .arp_plen = 4, .arp_op = 1, .arp_opstr = "request",
	    .arp_sha = "00:00:5e:00:53:01", .arp_tha = "00:00:00:00:00:00", .arp_spa = "192.0.2.1",
	    .arp_tpa = "192.0.2.2"};
	s->ipv4info = (struct ipv4info){
	    .ipv4_ver = 4, .ipv4_ihl = 20, .ipv4_tos = 0x10, .ipv4_length = 84, .ipv4_ident = 54321,
	    .ipv4_flags = 2, .ipv4_offset = 0, .ipv4_ttl = 64, .ipv4_protocol = 6, .ipv4_protostr = "TCP",
	    .ipv4_checksum = 0xbeef, .ipv4_src = htonl(0xc0000201), .ipv4_dst = htonl(0xc6336402),
	    .ipv4_saddr = "192.0.2.1", .ipv4_daddr = "198.51.100.2", .ipv4_hdr = 0x100e};
	s->ipv6info = (struct ipv6info){
	    .ipv6_ver = 6, .ipv6_tclass = 0xb8, .ipv6_flow = 0xabcde, .ipv6_plen = 64, .ipv6_nexthdr = 58,
	    .ipv6_nextstr = "ICMPv6", .ipv6_hlim = 255, .ipv6_src = 0x1016, .ipv6_dst = 0x1026,
	    .ipv6_saddr = "2001:db8::1", .ipv6_daddr = "2001:db8::2", .ipv6_hdr = 0x100e};
	s->icmpinfo = (struct icmpinfo){
	    .icmp_version = 4, .icmp_type = 3, .icmp_code = 4, .icmp_checksum = 0x1234, .icmp_pmtu_update = 1400,
	    .icmp_error_sport = 40000, .icmp_error_dport = 443, .icmp_error_ip_hdr = 0x102a, .icmp_hdr = 0x1022,
	    .icmp_typestr = "unreachable", .icmp_codestr = "fragmentation needed",
	    .icmp_error_saddr = "192.0.2.1", .icmp_error_daddr = "198.51.100.2", .icmp_error_protocol = 6};
}

static void
sample_fill_tcp(struct probe_args_sample *s)
{
	s->tcpinfo = (struct tcpinfo){
	    .tcp_sport = 40000, .tcp_dport = 443, .tcp_seq = 4294967295, .tcp_ack = 1000, .tcp_offset = 32,
	    .tcp_flags = NETOBS_TH_PSH | NETOBS_TH_ACK, .tcp_window = 502, .tcp_checksum = 0xcafe,
	    .tcp_hdr = 0x1022, .tcp_payload = 32, .tcp_flagstr = "PSH|ACK"};
	s->tcpsinfo = (struct tcpsinfo){
	    .tcps_addr = 0xffff8880deadbeef, .tcps_local = 0, .tcps_active = 1, .tcps_lport = 40000,
	    .tcps_rport = 443, .tcps_laddr = "192.0.2.1", .tcps_raddr = "198.51.100.2",
	    .tcps_state = NETOBS_TCP_ESTABLISHED, .tcps_iss = 4294967200, .tcps_irs = 900,
	    .tcps_suna = 4294967295, .tcps_snxt = 31, .tcps_rnxt = 1000, .tcps_rack = 1000, .tcps_swnd = 64256,
	    .tcps_rwnd = 65535, .tcps_snd_ws = 7, .tcps_rcv_ws = -1, .tcps_cwnd = 14480,
	    .tcps_cwnd_ssthresh = 0, .tcps_sack_fack = 0, .tcps_sack_snxt = 0, .tcps_rto = 204, .tcps_mss = 1448,
	    .tcps_retransmit = 0, .tcps_rtt = 4, .tcps_rtt_sd = 1, .tcps_srtt_us = 4321,
	    .tcps_statestr = "state-established", .tcps_snd_bytes = 94, .tcps_rcv_bytes = 99,
	    .tcps_snd_segs = 4, .tcps_rcv_segs = 3, .tcps_snd_retrans = 1, .tcps_rcv_retrans = 0,
	    .tcps_start = 1795172523000000000};
	memcpy(&s->tcpnsinfo, &s->tcpsinfo, sizeof s->tcpnsinfo);
	s->tcpnsinfo.tcps_state = NETOBS_TCP_FIN_WAIT_1;
	memcpy(s->tcpnsinfo.tcps_statestr, "state-fin-wait-1", sizeof "state-fin-wait-1");
	s->tcplsinfo = (struct tcplsinfo){.tcps_state = NETOBS_TCP_ESTABLISHED, .tcps_statestr = "state-established"};
	s->tcprinfo = (struct tcprinfo){
	    .tcpr_kind = NETOBS_RETRANSMIT_PROBE, .tcpr_kindstr = "tail-loss-probe", .tcpr_count = 2,
	    .tcpr_elapsed_us = 20480};
	s->tcpfinfo = (struct tcpfinfo){
	    .tcpf_len = 32, .tcpf_seq = 4294967295, .tcpf_peer_cid = 13, .tcpf_peer_pid = 4242};
}

static void
sample_fill_others(struct probe_args_sample *s)
{
	s->udpinfo = (struct udpinfo){
	    .udp_sport = 5353, .udp_dport = 53, .udp_length = 40, .udp_checksum = 0xabcd, .udp_hdr = 0x1022,
	    .udps_addr = 99, .udps_lport = 5353, .udps_rport = 53, .udps_laddr = "192.0.2.1",
	    .udps_raddr = "198.51.100.2", .udps_snd_bytes = 64, .udps_rcv_bytes = 512,
	    .udps_snd_datagrams = 2, .udps_rcv_datagrams = 1};
	s->sctpinfo = (struct sctpinfo){
	    .sctp_sport = 2905, .sctp_dport = 2906, .sctp_verify = 0xdeadbeef, .sctp_checksum = 0x12345678,
	    .sctp_hdr = 0x1022, .sctp_chunk_type = 1, .sctp_chunk_count = 1};
	s->sctpsinfo = (struct sctpsinfo){
	    .sctps_addr = 77, .sctps_num_raddrs = 2, .sctps_raddrs = "198.51.100.2 203.0.113.2",
	    .sctps_num_laddrs = 1, .sctps_laddrs = "192.0.2.1", .sctps_lport = 2905, .sctps_rport = 2906,
	    .sctps_laddr = "192.0.2.1", .sctps_raddr = "198.51.100.2", .sctps_state = NETOBS_SCTP_COOKIE_WAIT};
	s->sctplsinfo = (struct sctplsinfo){.sctps_state = NETOBS_SCTP_CLOSED};
	s->dccpinfo = (struct dccpinfo){
	    .dccp_sport = 5001, .dccp_dport = 5002, .dccp_type = NETOBS_DCCP_RESET, .dccp_ccval = 9, .dccp_cscov = 1,
	    .dccp_reset = 3, .dccp_seq = 0xffffffffffff, .dccp_ack = 1000, .dccp_offset = 32, .dccp_service = 0,
	    .dccp_payload = 7, .dccp_checksum = 0xfeed, .dccp_x = 1, .dccp_hdr = 0x1022, .dccp_typestr = "reset",
	    .dccp_resetstr = "no-connection"};
	s->sockinfo = (struct sockinfo){
	    .so_family = 2, .so_type = 1, .so_protocol = 6, .so_laddr = "192.0.2.1", .so_raddr = "198.51.100.2",
	    .so_lport = 40000, .so_rport = 443, .so_bytes = 32, .so_offset = 62, .so_pid = 4242, .so_uid = 1000,
	    .so_execname = "curl"};
	s->conninfo = (struct conninfo){
	    .ci_local = "2001:db8::1", .ci_remote = "2001:db8::2", .ci_protocol = "ipv6", .ci_lport = 3260,
	    .ci_rport = 51000, .ci_cid = 14, .ci_pkt = 1234, .ci_ts = 1795172523000000123, .ci_seq = 3};
	s->iscsiinfo = (struct iscsiinfo){
	    .ii_target = "iqn.2001-04.com.example:disk", .ii_initiator = "iqn.2001-04.com.example:host",
	    .ii_lun = 1, .ii_itt = 0x10, .ii_ttt = 0xffffffff, .ii_cmdsn = 5, .ii_statsn = 6, .ii_datasn = 0,
	    .ii_datalen = 4096, .ii_flags = 0x80, .ii_status = 2, .ii_response = 1, .ii_opcode = 1,
	    .ii_offset = 512, .ii_xferlen = 8192};
	s->iscsicmd = (struct iscsicmd){
	    .ic_len = 10, .ic_cdb = 0x1052, .ic_opcode = 0x28, .ic_opstr = "read(10)", .ic_cdb16 = {0x28}};
}

static void
sample_fill_applications(struct probe_args_sample *s)
{
	s->dnsinfo = (struct dnsinfo){
	    .dns_qname = "www.example.com.", .dns_cname = "web.example.net.", .dns_addr = "2001:db8::2",
	    .dns_qtypestr = "AAAA", .dns_rcodestr = "NOERROR", .dns_transport = "udp", .dns_id = 4660,
	    .dns_qtype = 28, .dns_qclass = 1, .dns_flags = 0x8180, .dns_rcode = 0, .dns_questions = 1,
	    .dns_answers = 2, .dns_authority = 3, .dns_additional = 1, .dns_edns_size = 1232, .dns_dnssec_ok = 1,
	    .dns_ttl = 300, .dns_size = 110, .dns_tries = 2, .dns_latency_us = 5100000};
	s->tlsinfo = (struct tlsinfo){
	    .tls_sni = "www.example.com", .tls_alpn = "h2", .tls_versionstr = "TLSv1.3",
	    .tls_cipherstr = "TLS_AES_128_GCM_SHA256", .tls_ja4 = "t13d1516h2_8daaf6152771_e5627efa2ab1",
	    .tls_alertstr = "unknown_ca", .tls_from = "client", .tls_version = 0x0304, .tls_cipher = 0x1301,
	    .tls_group = 29, .tls_resumed = 1, .tls_ech = 1, .tls_alert_level = 2, .tls_alert_description = 48,
	    .tls_hello_us = 12000, .tls_handshake_us = -1};
	s->httpinfo = (struct httpinfo){
	    .rq_id = 17, .rq_status = 200, .rq_lport = 80, .rq_rport = 51000, .rq_method = "GET",
	    .rq_uri = "/index.html?a=\"b\"", .rq_agent = "curl/7.88.1", .rq_host = "www.example.com",
	    .rq_version = "HTTP/1.1", .rq_uri_len = 17, .rq_request_bytes = 85, .rq_response_bytes = 5000,
	    .rq_first_byte_us = 900, .rq_total_us = 1200, .rq_upgraded = 1};
	s->smbopinfo = (struct smbopinfo){
	    .soi_share = "\\\\server\\share", .soi_curpath = "dir\\file.txt", .soi_opstr = "read",
	    .soi_statusstr = "STATUS_SUCCESS", .soi_dialectstr = "3.1.1", .soi_sid = 21, .soi_uid = 21, .soi_mid = 9,
	    .soi_offset = 4096, .soi_count = 1024, .soi_tid = 5, .soi_status = 0, .soi_flags = 9, .soi_op = 8,
	    .soi_dialect = 0x0311, .soi_encrypted = 0, .soi_signed = 1, .soi_latency_us = 350};
}

static void
sample_fill_connection(struct probe_args_sample *s)
{
	s->connrec = (struct connrec){
	    .cr_icmp_type = -1, .cr_icmp_code = -1,
	    .cr_uid = 0x00ab54a98ceb1f0a, .cr_community = "1:LQU9qZlK+B5F3KDmev6m5PMibrg=", .cr_client = "192.0.2.1",
	    .cr_server = "198.51.100.2", .cr_client_port = 40000, .cr_server_port = 443, .cr_client_cid = 12,
	    .cr_server_cid = 13, .cr_role = "seen", .cr_protocol = 6, .cr_protostr = "TCP", .cr_version = 4,
	    .cr_if_name = "eth0", .cr_vlan = 4094, .cr_start = 1795172523000000000, .cr_end = 1795172523123456789,
	    .cr_duration_us = 123456, .cr_client_segments = 7, .cr_client_bytes = 94, .cr_client_wire = 600,
	    .cr_client_resent = 1, .cr_client_out_of_order = 2, .cr_client_zero_windows = 3,
	    .cr_client_state = "time-wait", .cr_server_segments = 6, .cr_server_bytes = 5000,
	    .cr_server_wire = 5432, .cr_server_resent = 2, .cr_server_out_of_order = 4,
	    .cr_server_zero_windows = 5, .cr_server_state = "closed", .cr_resent_fast = 1, .cr_resent_timeout = 0,
	    .cr_resent_probe = 0, .cr_resent_spurious = 1, .cr_resent_syn = 1, .cr_zero_window_us = 700,
	    .cr_handshake_us = 4000, .cr_first_byte_us = 9000, .cr_rtt_min_us = 3000, .cr_rtt_mean_us = 4321,
	    .cr_rtt_max_us = 6000, .cr_rtt_samples = 5, .cr_exchanges = 1, .cr_answer_mean_us = 2500,
	    .cr_answer_max_us = 2500, .cr_mss = 1448,
	    .cr_client_flags = NETOBS_TH_SYN | NETOBS_TH_ACK | NETOBS_TH_PSH | NETOBS_TH_FIN,
	    .cr_server_flags = NETOBS_TH_SYN | NETOBS_TH_ACK | NETOBS_TH_FIN, .cr_reason = "fin",
	    .cr_client_pid = 4242, .cr_server_pid = -1, .cr_client_uid = 1000, .cr_server_uid = -1,
	    .cr_client_comm = "curl", .cr_server_comm = "", .cr_name = "www.example.com", .cr_name_from = "tls",
	    .cr_anomalies = 1, .cr_anomaly = "tcp-short", .cr_seq = 9, .cr_since = 1795172523000000000,
	    .cr_connect_us = 4000, .cr_path_us = 3000, .cr_client_us = 14456, .cr_server_us = 2000,
	    .cr_client_lost_us = 70000, .cr_server_lost_us = 30000, .cr_client_rtt_min_us = 3000,
	    .cr_client_rtt_mean_us = 3000, .cr_client_rtt_max_us = 3000, .cr_client_rtt_loaded_us = -1,
	    .cr_server_rtt_min_us = 4000, .cr_server_rtt_mean_us = 5000, .cr_server_rtt_max_us = 6000,
	    .cr_server_rtt_loaded_us = 6000, .cr_server_min_us = 2000, .cr_server_max_us = 2000, .cr_turns = 1,
	    .cr_unanswered_us = -1, .cr_closed_by = "client"};
}

void
probe_args_sample_fill(struct probe_args_sample *sample)
{
	memset(sample, 0, sizeof *sample);
	sample_fill_packet(sample);
	sample_fill_tcp(sample);
	sample_fill_others(sample);
	sample_fill_applications(sample);
	sample_fill_connection(sample);
}

const void *
probe_args_sample_get(const struct probe_args_sample *s, enum struct_id id)
{
	switch (id) {
#define SAMPLE_CASE(id, tag) case id: return &s->tag;
	STRUCT_ROWS(SAMPLE_CASE)
#undef SAMPLE_CASE
	case STRUCT_COUNT: break;
	}
	return NULL;
}

void
probe_args_sample_args(const struct probe_args_sample *sample, enum probe_id id, const void *args[6])
{
	const struct probe_info *probe = &manifest_probes[id];

	for (unsigned i = 0; i < 6; i++) {
		bool used = i < probe->arg_count && probe->args[i].type != NULL;

		args[i] = used ? probe_args_sample_get(sample, (enum struct_id)(probe->args[i].type - manifest_structs))
			       : NULL;
	}
}
