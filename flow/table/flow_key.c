/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/table/flow_key.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_SCTP 132

static inline struct flow_tuple
flow_tuple_from_packet(const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;
	struct flow_tuple tuple = {.src = ip->src, .dst = ip->dst, .version = ip->version};

	if (packet->transport == TRANSPORT_TCP) {
		tuple.protocol = PROTOCOL_TCP;
		tuple.sport = packet->tcp.sport;
		tuple.dport = packet->tcp.dport;
	} else if (packet->transport == TRANSPORT_SCTP) {
		tuple.protocol = PROTOCOL_SCTP;
		tuple.sport = packet->sctp.sport;
		tuple.dport = packet->sctp.dport;
	} else {
		tuple.protocol = PROTOCOL_UDP;
		tuple.sport = packet->udp.sport;
		tuple.dport = packet->udp.dport;
	}
	return tuple;
}

void
flow_key_from_packet(const struct packet *packet, struct flow_key *key, unsigned *sender)
{
	struct flow_tuple tuple = flow_tuple_from_packet(packet);

	flow_key_from_tuple(key, sender, &tuple);
}

bool
flow_key_from_icmp_error(const struct packet *packet, struct flow_key *key, unsigned *sender)
{
	bool icmp = packet->transport == TRANSPORT_ICMP || packet->transport == TRANSPORT_ICMPV6;
	struct flow_tuple tuple;

	if (!icmp || !packet->icmp.error || packet->icmp.quote.version == 0 || !packet->icmp.quote.has_ports)
		return false;
	tuple.src = packet->icmp.quote.src;
	tuple.dst = packet->icmp.quote.dst;
	tuple.sport = packet->icmp.quote.sport;
	tuple.dport = packet->icmp.quote.dport;
	tuple.protocol = packet->icmp.quote.protocol;
	tuple.version = packet->icmp.quote.version;
	if (tuple.protocol != PROTOCOL_TCP && tuple.protocol != PROTOCOL_UDP && tuple.protocol != PROTOCOL_SCTP)
		return false;
	flow_key_from_tuple(key, sender, &tuple);
	return true;
}

uint32_t
flow_key_hash(const struct flow_table *table, const struct flow_key *key)
{
	return key_hash(table, key);
}

uint32_t
flow_key_hash_packet(const struct flow_table *table, const struct packet *packet, struct flow_key *key,
		     unsigned *sender)
{
	struct flow_tuple tuple = flow_tuple_from_packet(packet);

	return key_hash_tuple(table, key, sender, &tuple);
}
