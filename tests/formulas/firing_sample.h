/* SPDX-License-Identifier: BSD-2-Clause */
/* A firing with all arguments that the tests of formulas read. */
#ifndef NETOBS_TESTS_FORMULAS_FIRING_SAMPLE_H
#define NETOBS_TESTS_FORMULAS_FIRING_SAMPLE_H

#include "probes/firing.h"
#include "probes/netobs.h"

struct firing_sample {
	struct pktinfo pkt;
	struct csinfo cs;
	struct ipinfo ip;
	struct tcpsinfo tcps;
	struct tcpinfo tcp;
	struct tcpnsinfo tcpns;
	struct tcplsinfo tcpls;
	struct tcprinfo tcpr;
	struct ipv4info ipv4;
	struct etherinfo ether;
	struct firing firing;
};

/* An established connection from 192.0.2.7:40000 to 198.51.100.80:443, a segment with ACK and PSH. */
void firing_sample_init(struct firing_sample *sample);

/* Makes it a firing of this probe, with the arguments that its declaration has. */
struct firing *firing_sample_fire(struct firing_sample *sample, enum probe_id probe);

#endif
