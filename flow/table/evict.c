/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eviction when the table is full.  Order: half-open connections, closing ones, UDP streams, established connections;
 * within a class the flow that entered it first.  UDP streams and established connections get a second chance: recently
 * active ones move to the end of their list, up to 16 of them; if all 16 were active, the one that has been idle
 * longest is evicted.  A UDP stream of a single datagram gets no second chance, so a flood of them evicts itself, in
 * constant time.
 */
#include "engine/engine.h"
#include "flow/table/table_internal.h"

#define EVICT_SCAN_MAX 16
#define ACTIVE_NS      (60 * NANOSECONDS)

static inline void
evict_list_link(struct flow_table *table, struct flow_cold *cold, flow_index index, enum evict_class class)
{
	struct evict_list *list = &table->evict_lists[class];

	cold->evict_next = 0;
	cold->evict_prev = list->tail;
	if (list->tail != 0)
		table->cold[list->tail].evict_next = index;
	else
		list->head = index;
	list->tail = index;
}

static inline void
evict_list_unlink(struct flow_table *table, const struct flow_cold *cold, enum evict_class class)
{
	struct evict_list *list = &table->evict_lists[class];

	if (cold->evict_prev != 0)
		table->cold[cold->evict_prev].evict_next = cold->evict_next;
	else
		list->head = cold->evict_next;
	if (cold->evict_next != 0)
		table->cold[cold->evict_next].evict_prev = cold->evict_prev;
	else
		list->tail = cold->evict_prev;
}

void
evict_list_append(struct flow_table *table, flow_index index, enum evict_class class)
{
	evict_list_link(table, &table->cold[index], index, class);
}

void
evict_list_remove(struct flow_table *table, flow_index index)
{
	const struct flow_cold *cold = &table->cold[index];

	evict_list_unlink(table, cold, flow_cold_class(cold));
}

void
flow_set_evict_class(struct flow_table *table, struct flow *flow, enum evict_class class)
{
	flow_index index = flow_index_of(table, flow);
	struct flow_cold *cold = &table->cold[index];
	enum evict_class before = flow_cold_class(cold);

	if (before == class)
		return;
	evict_list_unlink(table, cold, before);
	flow_cold_set_class(cold, class);
	evict_list_link(table, cold, index, class);
}

static void
evict_flow(struct flow_table *table, flow_index index, uint64_t now)
{
	struct flow *flow = &table->hot[index];
	struct flow_events events;

	engine_table_evict(flow_cold_class(&table->cold[index]), table->counters.flows);
	record_prepare(table, flow);
	events.count = 0;
	flow_on_evict(table, flow, now, &events);
	flow_report_end(table, flow, true);
	flow_report_events(table, flow, &events);
	record_report_removal(table, flow, RECORD_EVICTED);
	flow_table_remove_flow(table, flow);
}

/* A time stamp before the last packet does not make the flow idle. */
static bool
evict_is_recently_active(const struct flow *flow, uint64_t now)
{
	if (flow->kind == FLOW_UDP && flow->udp[0].datagrams + flow->udp[1].datagrams < 2)
		return false;
	return now < flow->last_seen || now - flow->last_seen < ACTIVE_NS;
}

/* The first flow of a class that was not active recently, otherwise the one of those examined that has been idle
 * longest; 0 if the class is empty. */
static flow_index
evict_pick_second_chance(struct flow_table *table, enum evict_class class, uint64_t now, bool *idle)
{
	flow_index index = table->evict_lists[class].head, idlest = index;
	unsigned examined;

	*idle = true;
	for (examined = 0; examined < EVICT_SCAN_MAX && index != 0; examined++) {
		flow_index next = table->cold[index].evict_next;

		if (!evict_is_recently_active(&table->hot[index], now))
			return index;
		if (table->hot[index].last_seen < table->hot[idlest].last_seen)
			idlest = index;
		evict_list_remove(table, index);
		evict_list_append(table, index, class);
		index = next == 0 ? table->evict_lists[class].head : next;
	}
	*idle = false;
	return idlest;
}

void
evict_at_limit(struct flow_table *table, uint64_t now)
{
	struct flow_counters *counters = &table->counters;
	flow_index index;
	bool idle;

	if ((index = table->evict_lists[EVICT_CLASS_HALF_OPEN].head) != 0) {
		counters->evicted_half_open++;
	} else if ((index = table->evict_lists[EVICT_CLASS_CLOSING].head) != 0) {
		counters->evicted_closing++;
	} else if ((index = evict_pick_second_chance(table, EVICT_CLASS_UDP, now, &idle)) != 0) {
		counters->evicted_udp++;
	} else {
		index = evict_pick_second_chance(table, EVICT_CLASS_ESTABLISHED, now, &idle);
		if (idle)
			counters->evicted_idle++;
		else
			counters->evicted_oldest++;
	}
	evict_flow(table, index, now);
}

/* Evicts one of the first flows of an overlong probe sequence, which does not arise by chance (see HASH_PROBE_MAX): of
 * the lowest class, the flow that has been idle longest. */
void
evict_from_probe_sequence(struct flow_table *table, uint32_t hash, uint64_t now)
{
	flow_index flows[EVICT_SCAN_MAX];
	unsigned i, count = slots_list_probe_sequence(table, hash, flows, EVICT_SCAN_MAX);
	flow_index least = flows[0];

	for (i = 1; i < count; i++) {
		const struct flow_cold *a = &table->cold[flows[i]], *b = &table->cold[least];

		if (flow_cold_class(a) < flow_cold_class(b) ||
		    (flow_cold_class(a) == flow_cold_class(b) &&
		     table->hot[flows[i]].last_seen < table->hot[least].last_seen))
			least = flows[i];
	}
	table->counters.evicted_crowded++;
	evict_flow(table, least, now);
}
