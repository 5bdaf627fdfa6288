/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/table/flow_key.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_SCTP 132

static inline struct way
way_of(const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;
	struct way way = {.src = ip->src, .dst = ip->dst, .version = ip->version};

	if (packet->transport == TRANSPORT_TCP) {
		way.protocol = PROTOCOL_TCP;
		way.sport = packet->tcp.sport;
		way.dport = packet->tcp.dport;
	} else if (packet->transport == TRANSPORT_SCTP) {
		way.protocol = PROTOCOL_SCTP;
		way.sport = packet->sctp.sport;
		way.dport = packet->sctp.dport;
	} else {
		way.protocol = PROTOCOL_UDP;
		way.sport = packet->udp.sport;
		way.dport = packet->udp.dport;
	}
	return way;
}

void
flow_key_of(const struct packet *packet, struct flow_key *key, unsigned *sender)
{
	struct way way = way_of(packet);

	make_key(key, sender, &way);
}

bool
flow_key_of_quote(const struct packet *packet, struct flow_key *key, unsigned *sender)
{
	bool icmp = packet->transport == TRANSPORT_ICMP || packet->transport == TRANSPORT_ICMPV6;
	struct way way;

	if (!icmp || !packet->icmp.error || packet->icmp.quote.version == 0 || !packet->icmp.quote.has_ports)
		return false;
	way.src = packet->icmp.quote.src;
	way.dst = packet->icmp.quote.dst;
	way.sport = packet->icmp.quote.sport;
	way.dport = packet->icmp.quote.dport;
	way.protocol = packet->icmp.quote.protocol;
	way.version = packet->icmp.quote.version;
	if (way.protocol != PROTOCOL_TCP && way.protocol != PROTOCOL_UDP && way.protocol != PROTOCOL_SCTP)
		return false;
	make_key(key, sender, &way);
	return true;
}

uint32_t
flow_hash(const struct flow_table *table, const struct flow_key *key)
{
	return hash_key(table, key);
}

uint32_t
flow_key_and_hash(const struct flow_table *table, const struct packet *packet, struct flow_key *key, unsigned *sender)
{
	struct way way = way_of(packet);

	return key_and_hash(table, key, sender, &way);
}
