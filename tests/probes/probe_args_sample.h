/* SPDX-License-Identifier: BSD-2-Clause */
/* One believable argument of every kind, for tests of what comes after the arguments are built. */
#ifndef NETOBS_TESTS_PROBES_PROBE_ARGS_SAMPLE_H
#define NETOBS_TESTS_PROBES_PROBE_ARGS_SAMPLE_H

#include "probes/manifest.h"
#include "probes/netobs.h"

struct probe_args_sample {
	struct pktinfo pkt;
	struct csinfo cs;
	struct ipinfo ip;
	struct illinfo ill;
	struct ifinfo ifi;
	struct etherinfo ether;
	struct arpinfo arp;
	struct ipv4info ipv4;
	struct ipv6info ipv6;
	struct icmpinfo icmp;
	struct tcpinfo tcp;
	struct tcpsinfo tcps;
	struct tcpnsinfo tcpns;
	struct tcplsinfo tcpls;
	struct tcprinfo tcpr;
	struct tcpfinfo tcpf;
	struct udpinfo udp;
	struct sctpinfo sctp;
	struct sctpsinfo sctps;
	struct sctplsinfo sctpls;
	struct sockinfo so;
	struct conninfo ci;
	struct iscsiinfo ii;
	struct iscsicmd ic;
};

void probe_args_sample_fill(struct probe_args_sample *sample);

/* The sample of a struct. */
const void *probe_args_sample_get(const struct probe_args_sample *sample, enum struct_id id);

/* The arguments that probe `id` would have. */
void probe_args_sample_args(const struct probe_args_sample *sample, enum probe_id id, const void *args[6]);

#endif
