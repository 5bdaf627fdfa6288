/* SPDX-License-Identifier: BSD-2-Clause */
/* Open addressing with linear probing, slots in descending order of hash (see table_internal.h), backward-shift
 * deletion. */
#include "flow/table/slots.h"

#include "engine/engine.h"

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

void
flow_table_set_candidate(struct flow_table *table, struct flow *candidate)
{
	table->candidate = candidate;
}

struct flow *
flow_table_lookup(struct flow_table *table, const struct flow_key *key, uint32_t hash)
{
	return slots_lookup(table, key, hash);
}

bool
slots_insert(struct flow_table *table, uint32_t hash, flow_index index)
{
	uint64_t *home = &table->slots[slot_home(table, hash)];
	uint64_t *at = slots_lower_bound(table, hash, slot_pack(hash, index));
	uint64_t *end = at;
	uint64_t probe_len;

	while (*end != 0)
		end++;
	probe_len = (uint64_t)(end - home) + 1;
	if (probe_len > HASH_PROBE_MAX)
		return false;
	if (probe_len > table->counters.longest_probe)
		table->counters.longest_probe = probe_len;
	memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
	*at = slot_pack(hash, index);
	return true;
}

void
slots_grow(struct flow_table *table)
{
	uint32_t old_slots = table->home_slots + HASH_PROBE_MAX + 1;
	uint32_t home_slots =
	    table->home_slots > table->home_slots_max / 2 ? table->home_slots_max : 2 * table->home_slots;
	uint64_t *end = table->slots + home_slots + HASH_PROBE_MAX + 1, *from = end, *at = table->slots;

	while (old_slots-- > 0) {
		uint64_t slot = table->slots[old_slots];

		table->slots[old_slots] = 0;
		if (slot != 0)
			*--from = slot;
	}
	engine_table_grow(table->home_slots, home_slots);
	table->home_slots = home_slots;
	for (; from != end; from++) {
		uint64_t slot = *from, *home = &table->slots[slot_home(table, (uint32_t)(slot >> 32))];

		*from = 0;
		if (at < home)
			at = home;
		*at++ = slot;
	}
}

/* Backward-shift deletion: moves later entries that are not in their home slot, so that a probe sequence has no gap. */
void
slots_remove(struct flow_table *table, uint32_t hash, flow_index index)
{
	uint64_t *at = slots_lower_bound(table, hash, slot_pack(hash, index));
	uint64_t *end = at + 1;

	while (*end != 0 && slot_home(table, (uint32_t)(*end >> 32)) < (uint32_t)(end - table->slots))
		end++;
	memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
	end[-1] = 0;
}

unsigned
slots_list_probe_sequence(const struct flow_table *table, uint32_t hash, flow_index *flows, unsigned count)
{
	const uint64_t *at = &table->slots[slot_home(table, hash)];
	unsigned n = 0;

	while (n < count && at[n] != 0) {
		flows[n] = (flow_index)at[n];
		n++;
	}
	return n;
}
