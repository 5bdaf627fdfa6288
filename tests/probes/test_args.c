/* SPDX-License-Identifier: BSD-2-Clause */
/* Argument structs from packets and flows: units, byte orders, names, and the values for unknown fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "flow/tcp/tcp.h"
#include "flow/tcp/tcp_pools.h"
#include "probes/args/args.h"
#include "probes/names.h"
#include "tests/dissect/frame_buffer.h"

/* The args structs begin as garbage: a field that is not written shows. */
#define GARBAGE(name) memset(&(name), 0xa5, sizeof(name))

/* Flags DF, TOS 0x2e, id 0x1234, 4 bytes of options, TTL 9, 10.0.0.1 -> 192.0.2.200, UDP 53 -> 5353, 4 bytes. */
static const uint8_t ipv4_udp[] = {
    0x46, 0x2e, 0x00, 0x24, 0x12, 0x34, 0x40, 0x00, 0x09, 0x11, 0x00, 0x00, 10,	  0,	0,    1,    192,  0,
    2,	  200,	0x01, 0x01, 0x01, 0x00, 0x00, 0x35, 0x14, 0xe9, 0x00, 0x0c, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef,
};

static const struct packet *
dissected(const uint8_t *data, uint32_t len)
{
	struct frame_buffer b = frame_buffer_from(data, len);

	if (data[0] >> 4 == 4)
		frame_fix_ipv4_checksum(&b);
	return frame_dissect(DLT_RAW, &b);
}

static void
test_ipv4(void **state)
{
	const struct packet *p = dissected(ipv4_udp, sizeof ipv4_udp);
	struct ipv4info v4;
	struct ipinfo ip;
	struct udpinfo udp;

	(void)state;
	GARBAGE(v4);
	GARBAGE(ip);
	GARBAGE(udp);
	args_ipv4info(&v4, &p->ip);
	assert_int_equal(v4.ipv4_ver, 4);
	assert_int_equal(v4.ipv4_ihl, 24); /* bytes, not words */
	assert_int_equal(v4.ipv4_tos, 0x2e);
	assert_int_equal(v4.ipv4_length, 36);
	assert_int_equal(v4.ipv4_ident, 0x1234);
	assert_int_equal(v4.ipv4_flags, 2); /* DF */
	assert_int_equal(v4.ipv4_offset, 0);
	assert_int_equal(v4.ipv4_ttl, 9);
	assert_int_equal(v4.ipv4_protocol, 17);
	assert_string_equal(v4.ipv4_protostr, "UDP");
	assert_int_equal(ntohl(v4.ipv4_src), 0x0a000001); /* network order */
	assert_int_equal(ntohl(v4.ipv4_dst), 0xc00002c8);
	assert_string_equal(v4.ipv4_saddr, "10.0.0.1");
	assert_string_equal(v4.ipv4_daddr, "192.0.2.200");
	assert_true(v4.ipv4_hdr == (uintptr_t)p->frame->data);
	args_ipinfo(&ip, &p->ip);
	assert_int_equal(ip.ip_ver, 4);
	assert_int_equal(ip.ip_plength, 12);
	assert_string_equal(ip.ip_saddr, "10.0.0.1");
	assert_string_equal(ip.ip_daddr, "192.0.2.200");
	args_udpinfo(&udp, p, &(struct probe_endpoint){0});
	assert_int_equal(udp.udp_sport, 53);
	assert_int_equal(udp.udp_dport, 5353);
	assert_int_equal(udp.udp_length, 12);
	assert_int_equal(udp.udps_addr, 0);
	assert_string_equal(udp.udps_laddr, "");
}

/* Fragment offset 0x1fff of 13 bits: a mask of 12 would lose one. */
static void
test_ipv4_offset(void **state)
{
	uint8_t data[28] = {0x45, 0, 0, 28, 0, 1, 0x1f, 0xff, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};
	struct ipv4info v4;

	(void)state;
	args_ipv4info(&v4, &dissected(data, sizeof data)->ip);
	assert_int_equal(v4.ipv4_offset, 0x1fff);
	assert_int_equal(v4.ipv4_flags, 0);
	data[6] |= 0x20;
	args_ipv4info(&v4, &dissected(data, sizeof data)->ip);
	assert_int_equal(v4.ipv4_flags, 1); /* MF */
}

/* Traffic class 0xb8, flow label 0xabcde, hop-by-hop then TCP without options. */
static const uint8_t ipv6_tcp[] = {
    0x6b, 0x8a, 0xbc, 0xde, 0x00, 0x1e, 0x00, 0x40,
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
    0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
    0x06, 0x00, 0x01, 0x04, 0, 0, 0, 0,
    0xc0, 0x00, 0x00, 0x50, 0xff, 0xff, 0xff, 0xf0, 0x00, 0x00, 0x00, 0x10, 0x50, 0x18, 0x80, 0x00,
    0x12, 0x34, 0x00, 0x07, 'h', 'i',
};

static void
test_ipv6_tcp(void **state)
{
	const struct packet *p = dissected(ipv6_tcp, sizeof ipv6_tcp);
	struct ipv6info v6;
	struct ipinfo ip;
	struct tcpinfo tcp;

	(void)state;
	GARBAGE(v6);
	GARBAGE(ip);
	GARBAGE(tcp);
	args_ipv6info(&v6, &p->ip);
	assert_int_equal(v6.ipv6_ver, 6);
	assert_int_equal(v6.ipv6_tclass, 0xb8); /* 0 on illumos */
	assert_int_equal(v6.ipv6_flow, 0xabcde);
	assert_int_equal(v6.ipv6_plen, 30);
	assert_int_equal(v6.ipv6_nexthdr, 0);
	assert_string_equal(v6.ipv6_nextstr, "HOPOPT");
	assert_int_equal(v6.ipv6_hlim, 64);
	assert_string_equal(v6.ipv6_saddr, "2001:db8::1");
	assert_string_equal(v6.ipv6_daddr, "fe80::2");
	assert_memory_equal((const void *)(uintptr_t)v6.ipv6_src, ipv6_tcp + 8, 16);
	assert_memory_equal((const void *)(uintptr_t)v6.ipv6_dst, ipv6_tcp + 24, 16);
	args_ipinfo(&ip, &p->ip);
	assert_int_equal(ip.ip_ver, 6);
	assert_int_equal(ip.ip_plength, 30); /* the extension header counts */
	args_tcpinfo(&tcp, p);
	assert_int_equal(tcp.tcp_sport, 0xc000);
	assert_int_equal(tcp.tcp_dport, 80);
	assert_true(tcp.tcp_seq == 0xfffffff0u);
	assert_int_equal(tcp.tcp_ack, 16);
	assert_int_equal(tcp.tcp_offset, 20); /* bytes; FreeBSD has words >> 2 */
	assert_int_equal(tcp.tcp_flags, 0x18);
	assert_string_equal(tcp.tcp_flagstr, "PSH|ACK");
	assert_int_equal(tcp.tcp_window, 0x8000);
	assert_int_equal(tcp.tcp_checksum, 0x1234);
	assert_int_equal(tcp.tcp_urgent, 7);
	assert_int_equal(tcp.tcp_payload, 2);
}

static void
test_flags_in_words(void **state)
{
	char text[24];

	(void)state;
	field_set_tcp_flags(text, 0);
	assert_string_equal(text, "");
	field_set_tcp_flags(text, TCP_SYN | TCP_ACK);
	assert_string_equal(text, "SYN|ACK");
	field_set_tcp_flags(text, 0x3f);
	assert_string_equal(text, "FIN|SYN|RST|PSH|ACK|URG");
	field_set_tcp_flags(text, 0xff);
	assert_string_equal(text, "FIN|SYN|RST|PSH|ACK|...");
}

/* A tagged frame: priority 5, DEI set, VLAN 0xabc. */
static void
test_ethernet(void **state)
{
	static const uint8_t frame[] = {0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x81, 0x00, 0xba, 0xbc, 0x08, 0x06,
					0,    1, 8, 0, 6, 4, 0,	   1};
	const struct packet *p = DISSECT(DLT_EN10MB, frame);
	struct etherinfo ether;
	struct pktinfo pkt;
	struct illinfo ill;
	const struct interface nameless = {.ifindex = 3, .netns = 4026531840u};

	(void)state;
	GARBAGE(ether);
	GARBAGE(pkt);
	GARBAGE(ill);
	args_etherinfo(&ether, p);
	assert_int_equal(ether.eth_type, 0x0806); /* the inner type */
	assert_int_equal(ether.eth_istagged, 1);
	assert_int_equal(ether.eth_priority, 5); /* 0 on illumos */
	assert_int_equal(ether.eth_dei, 1);
	assert_int_equal(ether.eth_vlanid, 0xabc);
	assert_string_equal(ether.eth_shost, "02:00:00:00:00:01");
	assert_string_equal(ether.eth_dhost, "02:00:00:00:00:02");
	assert_int_equal(ether.eth_length, sizeof frame);
	args_pktinfo(&pkt, p, 77, CHECKSUM_PARTIAL);
	assert_int_equal(pkt.pkt_addr, 77);
	assert_int_equal(pkt.pkt_len, sizeof frame);
	assert_int_equal(pkt.pkt_link, DLT_EN10MB);
	assert_string_equal(pkt.pkt_csum, "partial");
	assert_string_equal(pkt.pkt_reason, "arp-short");
	assert_int_equal(pkt.pkt_seq, 0);
	args_illinfo(&ill, &nameless, false);
	assert_string_equal(ill.if_name, "<unknown>");
	assert_int_equal(ill.if_local, 0);
	assert_int_equal(ill.if_ipstack, 4026531840u);
	assert_int_equal(ill.if_addr, 3);
	args_illinfo(&ill, &nameless, true);
	assert_int_equal(ill.if_local, 1);
}

static const char *
arp_word(uint16_t op, const char *sender, const char *target)
{
	static struct arpinfo info;
	struct arp_layer arp = {
	    .htype = 1, .ptype = 0x0800, .hlen = 6, .plen = 4, .op = op,
	    .sha = {(const uint8_t *)"\x02\0\0\0\0\1", 6}, .tha = {(const uint8_t *)"\0\0\0\0\0\0", 6},
	    .spa = {(const uint8_t *)sender, 4}, .tpa = {(const uint8_t *)target, 4},
	};

	GARBAGE(info);
	args_arpinfo(&info, &arp);
	assert_string_equal(info.arp_sha, "02:00:00:00:00:01");
	return info.arp_opstr;
}

static void
test_arp_operations(void **state)
{
	static const char a[] = "\x0a\0\0\1", b[] = "\x0a\0\0\2", unspecified[] = "\0\0\0\0";

	(void)state;
	assert_string_equal(arp_word(1, a, b), "request");
	assert_string_equal(arp_word(2, a, b), "reply");
	assert_string_equal(arp_word(1, unspecified, a), "probe");
	assert_string_equal(arp_word(1, a, a), "announcement");
	assert_string_equal(arp_word(2, a, a), "gratuitous-reply");
	assert_string_equal(arp_word(3, unspecified, unspecified), "reverse-request");
	assert_string_equal(arp_word(4, a, b), "reverse-reply");
	assert_string_equal(arp_word(77, a, b), "<unknown>");
}

/* 10.0.0.2:40000 > 10.0.0.1:80, SYN. */
static const uint8_t syn[] = {
    0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1,
    0x9c, 0x40, 0, 80, 0, 0, 0, 100, 0, 0, 0, 0, 0x50, 0x02, 0x7d, 0, 0, 0, 0, 0,
};

static struct flow_table *table;

static void
nothing_due(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	(void)flow;
	(void)events;
}

/* A flow of the table whose endpoints the test then sets freely: end 0 is the server. */
static struct flow *
flow_of_syn(void)
{
	struct flow_limits limits = flow_limits_default();
	const struct packet *p = dissected(syn, sizeof syn);
	struct flow_key key;
	struct flow *flow;
	unsigned sender;

	limits.flows = 16;
	table = flow_table_new(&limits, 1, nothing_due, NULL);
	assert_non_null(table);
	flow_key_from_packet(p, &key, &sender);
	assert_int_equal(sender, 1);
	flow = flow_table_lookup_tcp(table, p, &key, flow_key_hash(table, &key), sender, 123456789);
	assert_non_null(flow);
	return flow;
}

static void
test_endpoint(void **state)
{
	struct flow *flow = flow_of_syn();
	struct tcpsinfo tcps;
	struct csinfo cs;
	struct probe_endpoint client = {table, flow, 1, &flow->tcp[1], NULL};
	struct tcp_estimates estimates;

	(void)state;
	GARBAGE(tcps);
	GARBAGE(cs);
	flow->local = 3;
	flow->tcp[0] = (struct tcp_endpoint){.state = TCP_STATE_ESTABLISHED, .flags = TCP_EP_ISS_KNOWN, .wscale = 7,
					     .iss = 500,
				       .wnd = 65536, .segments_sent = 4, .bytes = 900};
	tcp_count_retransmission(table, flow, 0);
	flow->tcp[1] = (struct tcp_endpoint){.state = TCP_STATE_FIN_WAIT_1,
					     .flags = TCP_EP_ISS_KNOWN | TCP_EP_ACTIVE_OPEN,
					     .iss = 100,
					     .una = 110,
					     .nxt = 150,
					     .rcv_nxt = 601,
					     .last_ack_sent = 600,
					     .wnd = 32000,
					     .srtt_us = 2500,
					     .rttvar_us = 1000,
					     .segments_sent = 9,
					     .bytes = 49};
	args_tcpsinfo(&tcps, &client);
	assert_int_equal(tcps.tcps_addr, flow_cid(table, flow, 1));
	assert_int_equal(tcps.tcps_local, 0); /* both ends are reported, but they are not one host */
	assert_int_equal(tcps.tcps_active, 1);
	assert_int_equal(tcps.tcps_lport, 40000);
	assert_int_equal(tcps.tcps_rport, 80);
	assert_string_equal(tcps.tcps_laddr, "10.0.0.2");
	assert_string_equal(tcps.tcps_raddr, "10.0.0.1");
	assert_int_equal(tcps.tcps_state, NETOBS_TCP_FIN_WAIT_1);
	assert_string_equal(tcps.tcps_statestr, "state-fin-wait-1");
	assert_int_equal(tcps.tcps_iss, 100);
	assert_int_equal(tcps.tcps_irs, 500);
	assert_int_equal(tcps.tcps_suna, 110);
	assert_int_equal(tcps.tcps_snxt, 150);
	assert_int_equal(tcps.tcps_rnxt, 601);
	assert_int_equal(tcps.tcps_rack, 600);
	assert_int_equal(tcps.tcps_swnd, 65536);
	assert_int_equal(tcps.tcps_rwnd, 32000);
	assert_int_equal(tcps.tcps_snd_ws, 7);
	assert_int_equal(tcps.tcps_rcv_ws, 0);
	tcp_estimate_congestion(table, flow, 1, &estimates);
	assert_int_equal(tcps.tcps_cwnd, estimates.cwnd);
	assert_int_equal(tcps.tcps_cwnd_ssthresh, estimates.ssthresh);
	assert_int_equal(tcps.tcps_mss, estimates.mss);
	assert_int_equal(tcps.tcps_rtt, 2);
	assert_int_equal(tcps.tcps_rtt_sd, 1);
	assert_int_equal(tcps.tcps_srtt_us, 2500);
	assert_int_equal(tcps.tcps_rto, tcp_rto_us(&flow->tcp[1]) / 1000); /* ms, not jiffies */
	assert_int_equal(tcps.tcps_snd_bytes, 49);
	assert_int_equal(tcps.tcps_rcv_bytes, 900);
	assert_int_equal(tcps.tcps_rcv_segs, 4);
	assert_int_equal(tcps.tcps_rcv_retrans, 1);
	assert_int_equal(tcps.tcps_start, 123456789);
	args_csinfo(&cs, &client, 5);
	assert_int_equal(cs.cs_cid, tcps.tcps_addr);
	assert_int_equal(cs.cs_pid, -1);
	assert_true(cs.cs_zoneid == -1);
	assert_int_equal(cs.cs_ts, 5);
	assert_string_equal(cs.cs_comm, "<unknown>");
	assert_int_equal(tcps.tcps_kernel, 0);
	flow_table_free(table);
}

/* The kernel's values of its own socket replace every estimate. */
static void
test_owned_endpoint(void **state)
{
	struct flow *flow = flow_of_syn();
	const struct owner owner = {
	    .netns = 4026531840u, .pid = 77, .uid = 1000, .flags = OWNER_TCP, .comm = "curl",
	    .tcp = {.cwnd = 14480, .ssthresh = 7240, .rtt_us = 25500, .rttvar_us = 3000, .rto_us = 226000, .mss = 1448},
	};
	struct owner listener = owner, nameless = owner;
	struct probe_endpoint client = {table, flow, 1, &flow->tcp[1], &owner};
	struct probe_endpoint unnamed = {table, flow, 1, &flow->tcp[1], &nameless};
	struct tcpsinfo tcps;
	struct csinfo cs;
	struct sockinfo so;

	(void)state;
	GARBAGE(tcps);
	GARBAGE(cs);
	GARBAGE(so);
	args_tcpsinfo(&tcps, &client);
	assert_int_equal(tcps.tcps_kernel, 1);
	assert_int_equal(tcps.tcps_cwnd, 14480);
	assert_int_equal(tcps.tcps_cwnd_ssthresh, 7240);
	assert_int_equal(tcps.tcps_rto, 226);
	assert_int_equal(tcps.tcps_mss, 1448);
	assert_int_equal(tcps.tcps_rtt, 25);
	assert_int_equal(tcps.tcps_rtt_sd, 3);
	assert_int_equal(tcps.tcps_srtt_us, 25500);
	args_csinfo(&cs, &client, 5);
	assert_int_equal(cs.cs_pid, 77);
	assert_int_equal(cs.cs_zoneid, 4026531840u);
	assert_string_equal(cs.cs_comm, "curl");
	nameless.comm[0] = '\0';
	args_csinfo(&cs, &unnamed, 5);
	assert_int_equal(cs.cs_pid, 77);
	assert_string_equal(cs.cs_comm, "<unknown>");
	args_sockinfo(&so, &client, 10, 1ull << 33);
	assert_int_equal(so.so_family, 2);
	assert_int_equal(so.so_type, 1);
	assert_int_equal(so.so_protocol, 6);
	assert_string_equal(so.so_laddr, "10.0.0.2");
	assert_int_equal(so.so_lport, 40000);
	assert_int_equal(so.so_bytes, 10);
	assert_true(so.so_offset == 1ull << 33);
	assert_int_equal(so.so_pid, 77);
	assert_int_equal(so.so_uid, 1000);
	assert_string_equal(so.so_execname, "curl");
	listener.pid = -1;
	listener.uid = OWNER_UID_UNKNOWN;
	listener.flags = 0;
	client.owner = &listener;
	args_tcpsinfo(&tcps, &client);
	assert_int_equal(tcps.tcps_kernel, 0);
	args_sockinfo(&so, &client, 10, 0);
	assert_int_equal(so.so_pid, -1);
	assert_int_equal(so.so_uid, -1);
	assert_string_equal(so.so_execname, "<unknown>");
	flow_table_free(table);
}

static void
test_endpoint_unknown(void **state)
{
	struct flow *flow = flow_of_syn();
	struct tcpsinfo tcps;

	(void)state;
	GARBAGE(tcps);
	flow->same_host = 1;
	flow->tcp[0] = (struct tcp_endpoint){.state = TCP_STATE_NONE};
	flow->tcp[1] = flow->tcp[0];
	flow->tcp[0].iss = 77; /* stale: its SYN was not captured */
	args_tcpsinfo(&tcps, &(struct probe_endpoint){table, flow, 0, &flow->tcp[0], NULL});
	assert_int_equal(tcps.tcps_local, 1);
	assert_int_equal(tcps.tcps_active, -1);
	assert_int_equal(tcps.tcps_state, 0);
	assert_string_equal(tcps.tcps_statestr, "<unknown>");
	assert_int_equal(tcps.tcps_iss, 0);
	assert_int_equal(tcps.tcps_irs, 0);
	assert_int_equal(tcps.tcps_snd_ws, -1);
	assert_int_equal(tcps.tcps_rcv_ws, -1);
	assert_int_equal(tcps.tcps_rtt, 0);
	flow->tcp[1].flags = TCP_EP_ACTIVE_OPEN;
	args_tcpsinfo(&tcps, &(struct probe_endpoint){table, flow, 0, &flow->tcp[0], NULL});
	assert_int_equal(tcps.tcps_active, 0);
	flow_table_free(table);
}

static void
test_retransmission(void **state)
{
	static const char *const words[] = {"", "fast", "timeout", "tail-loss-probe", "spurious", "syn"};
	struct tcprinfo info;

	(void)state;
	for (unsigned kind = 0; kind < 6; kind++) {
		GARBAGE(info);
		args_tcprinfo(&info, &(struct retransmission){(enum tcp_retransmit_kind)kind, 3, 250000});
		assert_int_equal(info.tcpr_kind, kind);
		assert_string_equal(info.tcpr_kindstr, words[kind]);
		assert_int_equal(info.tcpr_count, 3);
		assert_int_equal(info.tcpr_elapsed_us, 250000);
	}
	assert_int_equal(NETOBS_RETRANSMIT_FAST, RETRANSMIT_FAST);
	assert_int_equal(NETOBS_RETRANSMIT_SYN, RETRANSMIT_SYN);
	assert_int_equal(NETOBS_TCP_CLOSING, TCP_STATE_CLOSING);
}

static void
test_icmp_words(void **state)
{
	(void)state;
	assert_string_equal(icmp_type_name(4, 3), "unreachable");
	assert_string_equal(icmp_code_name(4, 3, 3), "port");
	assert_string_equal(icmp_code_name(4, 3, 99), "<unknown>");
	assert_string_equal(icmp_type_name(6, 135), "neighbor-solicitation");
	assert_string_equal(icmp_code_name(6, 1, 4), "port");
	assert_string_equal(icmp_code_name(4, 8, 0), "");
	for (unsigned n = 0; n < 256; n++) { /* every word fits char[32] */
		assert_true(strlen(icmp_type_name(4, (uint8_t)n)) < 32);
		assert_true(strlen(icmp_type_name(6, (uint8_t)n)) < 32);
		assert_true(strlen(ip_protocol_name((uint8_t)n)) < 16);
	}
}

/* DCCP, 5001 > 5002: a Reset with CCVal 9, coverage 1, 4 bytes of data; the words of its type and code. */
static void
test_dccp(void **state)
{
	static const uint8_t reset[] = {
	    0x13, 0x89, 0x13, 0x8a, 7, 0x91, 0xbe, 0xef, 7 << 1 | 1, 0, 1, 2, 3, 4, 5, 6, 0, 0,
	    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 3, 0, 0, 0, 1, 2, 3, 4,
	};
	struct frame_buffer inside = frame_buffer_from(reset, sizeof reset), frame = frame_wrap_ipv4(33, &inside);
	struct dccpinfo dccp;
	const struct packet *p = frame_dissect(DLT_IPV4, &frame);

	(void)state;
	GARBAGE(dccp);
	args_dccpinfo(&dccp, p);
	assert_int_equal(dccp.dccp_sport, 5001);
	assert_int_equal(dccp.dccp_dport, 5002);
	assert_int_equal(dccp.dccp_type, NETOBS_DCCP_RESET);
	assert_string_equal(dccp.dccp_typestr, "reset");
	assert_int_equal(dccp.dccp_ccval, 9);
	assert_int_equal(dccp.dccp_cscov, 1);
	assert_int_equal(dccp.dccp_x, 1);
	assert_true(dccp.dccp_seq == 0x010203040506);
	assert_true(dccp.dccp_ack == 0x111213141516);
	assert_int_equal(dccp.dccp_offset, 28); /* bytes, not words */
	assert_int_equal(dccp.dccp_checksum, 0xbeef);
	assert_int_equal(dccp.dccp_service, 0);
	assert_int_equal(dccp.dccp_reset, 3);
	assert_string_equal(dccp.dccp_resetstr, "no-connection");
	assert_int_equal(dccp.dccp_payload, 4);
	assert_true(dccp.dccp_hdr == (uintptr_t)p->frame->data + 20);
	frame.data[20 + 8] = 8 << 1 | 1; /* a Sync, whose last four bytes before the data are padding */
	memset(frame.data + 44, 0, 4);
	args_dccpinfo(&dccp, frame_dissect(DLT_IPV4, &frame));
	assert_string_equal(dccp.dccp_typestr, "sync");
	assert_int_equal(dccp.dccp_reset, 0);
	assert_string_equal(dccp.dccp_resetstr, "");
	frame.data[20 + 8] = 15 << 1 | 1;
	args_dccpinfo(&dccp, frame_dissect(DLT_IPV4, &frame));
	assert_string_equal(dccp.dccp_typestr, NAME_UNKNOWN);
	assert_int_equal(dccp.dccp_ack, 0);
	assert_string_equal(dccp_reset_name(0), "unspecified");
	assert_string_equal(dccp_reset_name(11), "aggression-penalty");
	assert_string_equal(dccp_reset_name(12), NAME_UNKNOWN);
	assert_string_equal(dccp_reset_name(127), NAME_UNKNOWN);
	assert_string_equal(dccp_reset_name(128), "ccid-specific");
}

/* Any groups, many of them 0 or small: the text is that of inet_ntop(), with nothing after it. */
static void
test_ipv6_text(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned n = 0; n < 300000; n++) {
		char expected[46] = "", text[46];
		uint8_t address[16] = {0};

		for (unsigned i = 0; i < sizeof address; i += 2) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			if ((random >> 40 & 7) < n % 8)
				continue;
			address[i] = (uint8_t)((random >> 48 & 3) == 0 ? 0 : random >> 56);
			address[i + 1] = (uint8_t)(random >> 32);
		}
		assert_non_null(inet_ntop(AF_INET6, address, expected, sizeof expected));
		GARBAGE(text);
		field_set_address(text, sizeof text, 6, address);
		assert_memory_equal(text, expected, sizeof text);
	}
}

/* Strings of every length in fields of every size: the rest is cleared, and nothing after the field. */
static void
test_string_field(void **state)
{
	const char string[] = "0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";

	(void)state;
	for (size_t size = 1; size < sizeof string; size++)
		for (size_t length = 0; length < sizeof string; length++) {
			size_t copied = length < size ? length : size - 1;
			char field[64], expected[64] = "";

			memset(field, 'x', sizeof field);
			memset(expected + size, 'x', sizeof expected - size);
			memcpy(expected, string + sizeof string - 1 - length, copied);
			field_set_string(field, size, string + sizeof string - 1 - length);
			assert_memory_equal(field, expected, sizeof field);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ipv4),	  cmocka_unit_test(test_ipv4_offset),
	    cmocka_unit_test(test_ipv6_tcp),	  cmocka_unit_test(test_flags_in_words),
	    cmocka_unit_test(test_ethernet),	  cmocka_unit_test(test_arp_operations),
	    cmocka_unit_test(test_endpoint),	  cmocka_unit_test(test_endpoint_unknown),
	    cmocka_unit_test(test_owned_endpoint),	  cmocka_unit_test(test_dccp),
	    cmocka_unit_test(test_retransmission), cmocka_unit_test(test_icmp_words),
	    cmocka_unit_test(test_ipv6_text),	  cmocka_unit_test(test_string_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
