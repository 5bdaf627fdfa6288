/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the contract's argument structs (netobs.h) from packets and flows.  Pure: every field is written each time. */
#ifndef NETOBS_PROBES_ARGS_ARGS_H
#define NETOBS_PROBES_ARGS_ARGS_H

#include "dissect/packet.h"
#include "flow/event.h"
#include "flow/flow.h"
#include "flow/record/flow_record.h"
#include "probes/netobs.h"
#include "probes/owner.h"

struct frame_peek;

/* An endpoint of a connection as probes report it: the flow, the end, and its control block, which may be the present
 * one or a saved one (before or after a change of state). */
struct probe_endpoint {
	const struct flow_table *table;
	const struct flow *flow;
	unsigned end;
	const struct tcp_endpoint *tcp; /* TCP flows only */
	const struct owner *owner;	/* owner of its socket; NULL unknown */
};

/* Converts a pointer to the contract's 64-bit representation. */
static inline netobs_ptr
args_pointer(const void *memory)
{
	return (netobs_ptr)(uintptr_t)memory;
}

/* Link layer and below.  pkt_seq is left 0; it is set when the probe fires. */
void args_pktinfo(struct pktinfo *info, const struct packet *packet, uint64_t id, enum checksum_verdict checksum);
void args_illinfo(struct illinfo *info, const struct interface *interface, bool loopback);
void args_etherinfo(struct etherinfo *info, const struct packet *packet);
void args_arpinfo(struct arpinfo *info, const struct arp_layer *arp);

/* IP and ICMP. */
void args_ipinfo(struct ipinfo *info, const struct ip_layer *ip);
/* Like args_ipinfo() for a PEEK_TCP or PEEK_UDP. */
void args_ipinfo_of_peek(struct ipinfo *info, const struct frame_peek *peek);
void args_ipv4info(struct ipv4info *info, const struct ip_layer *ip);
void args_ipv6info(struct ipv6info *info, const struct ip_layer *ip);
void args_icmpinfo(struct icmpinfo *info, const struct packet *packet);

/* Transports and their connections.  cs_seq is left 0. */
void args_csinfo(struct csinfo *info, const struct probe_endpoint *of, uint64_t now);
void args_tcpinfo(struct tcpinfo *info, const struct packet *packet);
/* Of an ICMP error about a segment: the ports that an answer to the segment has, and no header. */
void args_tcpinfo_of_error(struct tcpinfo *info, const struct icmp_layer *icmp);
/* Like args_tcpinfo() for a PEEK_TCP.  `info` is zero or holds another segment: tcp_flagstr is written only if the
 * flags differ. */
void args_tcpinfo_of_peek(struct tcpinfo *info, const struct frame_peek *peek);
void args_tcpsinfo(struct tcpsinfo *info, const struct probe_endpoint *of);
void args_tcplsinfo(struct tcplsinfo *info, enum tcp_state state);
void args_tcprinfo(struct tcprinfo *info, const struct retransmission *retransmission);
void args_tcpfinfo(struct tcpfinfo *info, const struct packet *packet, const struct probe_endpoint *of,
		   const struct owner *peer);
void args_udpinfo(struct udpinfo *info, const struct packet *packet, const struct probe_endpoint *of);

void args_sctpinfo(struct sctpinfo *info, const struct packet *packet);
/* `state` is the state before or after a change, which may differ from the endpoint's present one. */
void args_sctpsinfo(struct sctpsinfo *info, const struct probe_endpoint *of, enum sctp_state state);

void args_dccpinfo(struct dccpinfo *info, const struct packet *packet);

/* `bytes` application bytes of the endpoint, from stream offset `offset` on. */
void args_sockinfo(struct sockinfo *info, const struct probe_endpoint *of, uint32_t bytes, uint64_t offset);

/* The connection as an endpoint sees it; the message was completed by packet `packet` at `now`.  ci_seq is left 0: it
 * belongs to the firing. */
void args_conninfo(struct conninfo *info, const struct probe_endpoint *of, uint64_t packet, uint64_t now);

/* A connection that has ended or is still open (RECORD_OPEN). */
struct recorded_connection {
	const struct flow_table *table;
	const struct flow *flow;
	const struct flow_record *record;
	enum record_reason reason;
	const struct owner *owner[2]; /* of the flow's endpoints; NULL unknown */
};

/* cr_seq is left 0. */
void args_connrec(struct connrec *info, const struct recorded_connection *of);

#endif
