/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eviction when the table is full.  Order: half-open connections, closing ones, UDP streams, established connections;
 * within a class the flow that entered it first.  UDP streams and established connections get a second chance: recently
 * active ones move to the end of their list, up to 16 of them; if all 16 were active, the one that has been idle
 * longest is evicted.  A UDP stream of a single datagram gets no second chance, so a flood of them evicts itself, in
 * constant time.
 */
#include "flow/table/table_internal.h"

#define LOOKED_AT 16
#define ACTIVE_NS (60 * NANOSECONDS)

static inline void
append(struct flow_table *table, struct flow_cold *cold, flow_index index, enum flow_class class)
{
	struct class_list *list = &table->classes[class];

	cold->class_next = 0;
	cold->class_prev = list->tail;
	if (list->tail != 0)
		table->cold[list->tail].class_next = index;
	else
		list->head = index;
	list->tail = index;
}

static inline void
take_out(struct flow_table *table, const struct flow_cold *cold, enum flow_class class)
{
	struct class_list *list = &table->classes[class];

	if (cold->class_prev != 0)
		table->cold[cold->class_prev].class_next = cold->class_next;
	else
		list->head = cold->class_next;
	if (cold->class_next != 0)
		table->cold[cold->class_next].class_prev = cold->class_prev;
	else
		list->tail = cold->class_prev;
}

void
class_append(struct flow_table *table, flow_index index, enum flow_class class)
{
	append(table, &table->cold[index], index, class);
}

void
class_remove(struct flow_table *table, flow_index index)
{
	const struct flow_cold *cold = &table->cold[index];

	take_out(table, cold, cold_class(cold));
}

void
flow_set_class(struct flow_table *table, struct flow *flow, enum flow_class class)
{
	flow_index index = index_of(table, flow);
	struct flow_cold *cold = &table->cold[index];
	enum flow_class before = cold_class(cold);

	if (before == class)
		return;
	take_out(table, cold, before);
	cold_set_class(cold, class);
	append(table, cold, index, class);
}

static void
evict(struct flow_table *table, flow_index index, uint64_t now)
{
	struct flow *flow = &table->hot[index];
	struct flow_events events;

	events.count = 0;
	flow_evicted(table, flow, now, &events);
	flow_report(table, flow, &events);
	flow_remove(table, flow);
}

/* A time stamp before the last packet does not make the flow idle. */
static bool
was_active(const struct flow *flow, uint64_t now)
{
	if (flow->kind == FLOW_UDP && flow->udp[0].datagrams + flow->udp[1].datagrams < 2)
		return false;
	return now < flow->last || now - flow->last < ACTIVE_NS;
}

/* The first flow of a class that was not active recently, otherwise the longest idle of those examined; 0 if the class
 * is empty. */
static flow_index
second_chance(struct flow_table *table, enum flow_class class, uint64_t now, bool *idle)
{
	flow_index index = table->classes[class].head, silent = index;
	unsigned looked;

	*idle = true;
	for (looked = 0; looked < LOOKED_AT && index != 0; looked++) {
		flow_index next = table->cold[index].class_next;

		if (!was_active(&table->hot[index], now))
			return index;
		if (table->hot[index].last < table->hot[silent].last)
			silent = index;
		class_remove(table, index);
		class_append(table, index, class);
		index = next == 0 ? table->classes[class].head : next;
	}
	*idle = false;
	return silent;
}

void
evict_one(struct flow_table *table, uint64_t now)
{
	struct flow_counters *counters = &table->counters;
	flow_index index;
	bool idle;

	if ((index = table->classes[CLASS_HALF_OPEN].head) != 0) {
		counters->evicted_half_open++;
	} else if ((index = table->classes[CLASS_CLOSING].head) != 0) {
		counters->evicted_closing++;
	} else if ((index = second_chance(table, CLASS_DATAGRAM, now, &idle)) != 0) {
		counters->evicted_udp++;
	} else {
		index = second_chance(table, CLASS_ESTABLISHED, now, &idle);
		if (idle)
			counters->evicted_idle++;
		else
			counters->evicted_oldest++;
	}
	evict(table, index, now);
}

/* Evicts one of the first flows of an overlong run of slots, which does not arise by chance (see PROBE_MAX): the lowest
 * class, and in it the longest idle. */
void
evict_crowded(struct flow_table *table, uint32_t hash, uint64_t now)
{
	flow_index near[LOOKED_AT];
	unsigned i, count = slots_near(table, hash, near, LOOKED_AT);
	flow_index least = near[0];

	for (i = 1; i < count; i++) {
		const struct flow_cold *a = &table->cold[near[i]], *b = &table->cold[least];

		if (cold_class(a) < cold_class(b) ||
		    (cold_class(a) == cold_class(b) && table->hot[near[i]].last < table->hot[least].last))
			least = near[i];
	}
	table->counters.evicted_crowded++;
	evict(table, least, now);
}
