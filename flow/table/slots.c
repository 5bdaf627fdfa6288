/* SPDX-License-Identifier: BSD-2-Clause */
/* Open addressing with linear probing, slots in descending order of hash (see table.h), backward-shift deletion. */
#include "flow/table/slots.h"

void
flow_prefetch_slot(const struct flow_table *table, uint32_t hash)
{
	prefetch_slot(table, hash);
}

struct flow *
flow_prefetch(const struct flow_table *table, uint32_t hash)
{
	return prefetch_flow(table, hash);
}

/* Prefetches the cold half, which is used when a state changes.  With a million connections of ten packets each this
 * saves 28 ns a packet of 185; with 100,000 longer ones it makes no difference. */
void
flow_prefetch_rest(const struct flow_table *table, const struct flow *near)
{
	if (near->kind == FLOW_TCP && near->tcp[0].state == TCP_STATE_ESTABLISHED &&
	    near->tcp[1].state == TCP_STATE_ESTABLISHED && (near->tcp[0].trouble | near->tcp[1].trouble) == 0)
		return;
	prefetch_cold(table, near);
}

void
flow_expect(struct flow_table *table, struct flow *near)
{
	table->expected = near;
}

struct flow *
flow_find(struct flow_table *table, const struct flow_key *key, uint32_t hash)
{
	return slots_find(table, key, hash);
}

bool
slots_insert(struct flow_table *table, uint32_t hash, flow_index index)
{
	uint64_t *home = &table->slots[home_of(table, hash)];
	uint64_t *at = first_not_above(table, hash, slot_of(hash, index));
	uint64_t *end = at;
	uint64_t looked;

	while (*end != 0)
		end++;
	looked = (uint64_t)(end - home) + 1;
	if (looked > PROBE_MAX)
		return false;
	if (looked > table->counters.longest_probe)
		table->counters.longest_probe = looked;
	memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
	*at = slot_of(hash, index);
	return true;
}

void
slots_grow(struct flow_table *table)
{
	uint32_t old = table->homes + PROBE_MAX + 1;
	uint32_t homes = table->homes > table->homes_most / 2 ? table->homes_most : 2 * table->homes;
	uint64_t *end = table->slots + homes + PROBE_MAX + 1, *from = end, *at = table->slots;

	while (old-- > 0) {
		uint64_t slot = table->slots[old];

		table->slots[old] = 0;
		if (slot != 0)
			*--from = slot;
	}
	table->homes = homes;
	for (; from != end; from++) {
		uint64_t slot = *from, *home = &table->slots[home_of(table, (uint32_t)(slot >> 32))];

		*from = 0;
		if (at < home)
			at = home;
		*at++ = slot;
	}
}

/* Backward-shift deletion: move later entries that are not in their home slot, so that a probe sequence has no gap. */
void
slots_remove(struct flow_table *table, uint32_t hash, flow_index index)
{
	uint64_t *at = first_not_above(table, hash, slot_of(hash, index));
	uint64_t *end = at + 1;

	while (*end != 0 && home_of(table, (uint32_t)(*end >> 32)) < (uint32_t)(end - table->slots))
		end++;
	memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
	end[-1] = 0;
}

unsigned
slots_near(const struct flow_table *table, uint32_t hash, flow_index *near, unsigned count)
{
	const uint64_t *at = &table->slots[home_of(table, hash)];
	unsigned n = 0;

	while (n < count && at[n] != 0) {
		near[n] = (flow_index)at[n];
		n++;
	}
	return n;
}
