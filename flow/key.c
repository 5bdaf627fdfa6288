/* SPDX-License-Identifier: BSD-2-Clause */
/* The two ends of a connection in canonical order, and their hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "flow/table.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_SCTP 132

static inline uint64_t
load64(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

/* Whether end a comes after end b.  (address, port) pairs are compared as one: two sockets of one address are told
 * apart by their ports, as on loopback. */
static inline bool
comes_after(const uint8_t *a, uint16_t aport, const uint8_t *b, uint16_t bport)
{
	uint64_t ahead = __builtin_bswap64(load64(a)), bhead = __builtin_bswap64(load64(b));

	if (ahead != bhead)
		return ahead > bhead;
	ahead = __builtin_bswap64(load64(a + 8));
	bhead = __builtin_bswap64(load64(b + 8));
	if (ahead != bhead)
		return ahead > bhead;
	return aport > bport;
}

/* A packet's way: who sends what to whom. */
struct way {
	const uint8_t *src, *dst;
	uint16_t sport, dport;
	uint8_t protocol, version;
};

/* Fills the key without a branch on the order, which nobody could predict.  A socket that talks to itself is both
 * ends; its packets are then sent by end 0. */
static inline void
make_key(struct flow_key *key, unsigned *sender, const struct way *way)
{
	unsigned from = comes_after(way->src, way->sport, way->dst, way->dport);

	memcpy(key->addr[from], way->src, 16);
	memcpy(key->addr[from ^ 1], way->dst, 16);
	key->port[from] = way->sport;
	key->port[from ^ 1] = way->dport;
	key->protocol = way->protocol;
	key->version = way->version;
	key->space = 0;
	*sender = from;
}

void
flow_key_of(const struct packet *packet, struct flow_key *key, unsigned *sender)
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

/*
 * XXH3 with a secret seed.  Of an IPv4 key 16 bytes are not always zero, 12 of ends and 4 of kind: two words, XXH3's
 * shortest path.  They are put together from the fields because reading as one what was just written in pieces stalls
 * the processor.
 */
uint32_t
flow_hash(const struct flow_table *table, const struct flow_key *key)
{
	uint32_t low, high;
	uint64_t word[2];

	if (key->version != 4)
		return (uint32_t)(XXH3_64bits_withSeed(key, sizeof *key, table->seed) >> 32);
	memcpy(&low, key->addr[0], sizeof low);
	memcpy(&high, key->addr[1], sizeof high);
	word[0] = (uint64_t)high << 32 | low;
	word[1] = (uint64_t)key->space << 48 | (uint64_t)key->protocol << 32 |
		  (uint64_t)key->port[1] << 16 | key->port[0];
	return (uint32_t)(XXH3_64bits_withSeed(word, sizeof word, table->seed) >> 32);
}
