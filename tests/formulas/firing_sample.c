/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/formulas/firing_sample.h"

#include <arpa/inet.h>
#include <string.h>

#include "probes/manifest.h"

void
firing_sample_init(struct firing_sample *sample)
{
	*sample = (struct firing_sample){
		.pkt = {.pkt_addr = 7, .pkt_ts = 5000000000, .pkt_len = 1514, .pkt_caplen = 96, .pkt_link = 1},
		.cs = {.cs_addr = 0xffff888000000000, .cs_cid = 42, .cs_pid = 123, .cs_zoneid = -1, .cs_ts = 5000000000,
		       .cs_comm = "nginx"},
		.ip = {.ip_ver = 4, .ip_plength = 1480, .ip_saddr = "192.0.2.7", .ip_daddr = "198.51.100.80"},
		.tcps = {.tcps_lport = 40000, .tcps_rport = 443, .tcps_laddr = "192.0.2.7",
			 .tcps_raddr = "198.51.100.80", .tcps_active = -1, .tcps_state = NETOBS_TCP_ESTABLISHED,
			 .tcps_rto = 300, .tcps_rtt = 150, .tcps_srtt_us = 150000, .tcps_mss = 1460,
			 .tcps_statestr = "state-established", .tcps_snd_bytes = 2000000, .tcps_rcv_bytes = 3000000,
			 .tcps_start = 1000000000},
		.tcp = {.tcp_sport = 40000, .tcp_dport = 443, .tcp_seq = 4000000000u, .tcp_ack = 17, .tcp_offset = 32,
			.tcp_flags = NETOBS_TH_ACK | NETOBS_TH_PSH, .tcp_window = 501, .tcp_payload = 1448,
			.tcp_flagstr = "PSH|ACK"},
		.tcpls = {.tcps_state = NETOBS_TCP_SYN_SENT, .tcps_statestr = "state-syn-sent"},
		.tcpr = {.tcpr_kind = NETOBS_RETRANSMIT_TIMEOUT, .tcpr_kindstr = "timeout", .tcpr_count = 2,
			 .tcpr_elapsed_us = 1500000},
		.ipv4 = {.ipv4_ver = 4, .ipv4_ihl = 20, .ipv4_ttl = 64, .ipv4_protocol = 6, .ipv4_saddr = "192.0.2.7",
			 .ipv4_daddr = "198.51.100.80"},
		.ether = {.eth_dst = {0, 0, 0x5e, 0, 0x53, 1}, .eth_type = 0x0800},
	};
	sample->ipv4.ipv4_src = htonl(0xc0000207);
	sample->ipv4.ipv4_dst = htonl(0xc6336450);
	memcpy(&sample->tcpns, &sample->tcps, sizeof sample->tcpns);
}

static const void *
firing_sample_argument(const struct firing_sample *sample, const char *type)
{
	static const struct {
		const char *type;
		size_t offset;
	} arguments[] = {
		{"pktinfo", offsetof(struct firing_sample, pkt)},   {"csinfo", offsetof(struct firing_sample, cs)},
		{"ipinfo", offsetof(struct firing_sample, ip)},	    {"tcpsinfo", offsetof(struct firing_sample, tcps)},
		{"tcpinfo", offsetof(struct firing_sample, tcp)},
		{"tcpnsinfo", offsetof(struct firing_sample, tcpns)},
		{"tcplsinfo", offsetof(struct firing_sample, tcpls)},
		{"tcprinfo", offsetof(struct firing_sample, tcpr)},
		{"ipv4info", offsetof(struct firing_sample, ipv4)},
		{"etherinfo", offsetof(struct firing_sample, ether)},
	};

	for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
		if (strcmp(arguments[i].type, type) == 0)
			return (const char *)sample + arguments[i].offset;
	return NULL;
}

struct firing *
firing_sample_fire(struct firing_sample *sample, enum probe_id probe)
{
	const struct probe_info *info = &manifest_probes[probe];

	sample->firing = (struct firing){.probe = probe, .built = 0x3f, .ts = 5000000000};
	for (unsigned i = 0; i < info->arg_count; i++)
		if (info->args[i].type != NULL)
			sample->firing.args[i] = firing_sample_argument(sample, info->args[i].type->name);
	return &sample->firing;
}
