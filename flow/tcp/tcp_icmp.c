/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ICMP errors about a connection.  Linux ends an attempt to connect with most of them (tcp_v4_err(), tcp_v6_err()):
 * connect() fails at once, also in a simultaneous open.  A connection that is established survives them, as
 * RFC 1122 4.2.3.9 and RFC 5927 demand.
 */
#include <string.h>

#include "flow/tcp/tcp_segment.h"

enum {
	ICMP_UNREACHABLE = 3,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETER_PROBLEM = 12,
	ICMPV6_PACKET_TOO_BIG = 2,
	CODE_FRAGMENTATION_NEEDED = 4,
	CODE_PRECEDENCE_CUTOFF = 15, /* Linux ignores codes above it */
	CODE_REASSEMBLY = 1,
};

/* Whether Linux ends an attempt for errors of this type and code.  In ICMPv6 every type below 128 is an error, known or
 * not (RFC 4443 section 2.4). */
static bool
tcp_icmp_is_fatal(unsigned version, const struct icmp_layer *icmp)
{
	if (version == 6)
		return icmp->type != ICMPV6_PACKET_TOO_BIG;
	switch (icmp->type) {
	case ICMP_UNREACHABLE:
		return icmp->code <= CODE_PRECEDENCE_CUTOFF && icmp->code != CODE_FRAGMENTATION_NEEDED;
	case ICMP_TIME_EXCEEDED:
		return icmp->code != CODE_REASSEMBLY;
	default:
		return icmp->type == ICMP_PARAMETER_PROBLEM;
	}
}

/* Whether the error goes to the host that has sent the quoted segment. */
static bool
tcp_icmp_is_addressed(const struct packet *packet)
{
	const struct icmp_layer *icmp = &packet->icmp;

	return icmp->error && icmp->quote.version == packet->ip.version &&
	       memcmp(packet->ip.dst, icmp->quote.src, icmp->quote.version == 4 ? 4 : 16) == 0;
}

/* Whether the endpoint attempts to connect.  A SYN of the peer, in a simultaneous open, does not end the attempt; a
 * passive open is not the socket that such an error concerns. */
static bool
tcp_icmp_finds_attempt(const struct tcp_endpoint *e)
{
	return (e->state == TCP_STATE_SYN_SENT && !tcp_syn_ack_is_deferred(e)) ||
	       (e->state == TCP_STATE_SYN_RECEIVED && (e->flags & TCP_EP_ACTIVE_OPEN) != 0);
}

/* Whether the quoted number is one of the attempt, SND.UNA to SND.NXT. */
static bool
tcp_icmp_quotes_attempt(const struct tcp_endpoint *e, const struct icmp_layer *icmp)
{
	return tcp_icmp_finds_attempt(e) && icmp->quote.has_seq &&
	       icmp->quote.seq - e->una <= e->nxt - e->una;
}

void
tcp_icmp_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		  uint64_t now, struct flow_events *events)
{
	if (flow->kind != FLOW_TCP || !tcp_icmp_is_addressed(packet) ||
	    !tcp_icmp_is_fatal(packet->ip.version, &packet->icmp) ||
	    !tcp_icmp_quotes_attempt(&flow->tcp[endpoint], &packet->icmp))
		return;
	record_prepare(table, flow);
	if (now > flow->last_seen)
		flow->last_seen = now;
	record_set_unreached(table, flow, endpoint, packet);
	flow_events_add(events, EVENT_TCP_CONNECT_REFUSED, endpoint, now);
	tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_UNREACHABLE, now, events);
	tcp_flow_reclassify(table, flow, now);
}
