/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a flow: made for a first packet; freed by its timer, by an eviction if the table is full, by a new
 * incarnation or at the end. */
#include "engine/engine.h"
#include "flow/table/slots.h"

#define EVICT_SCAN_MAX 16
#define ACTIVE_NS      (60 * NANOSECONDS)

/* --- eviction --- */

/*
 * Eviction when the table is full.  Order: half-open connections, closing ones, UDP streams, established connections;
 * within a class the flow that entered it first.  UDP streams and established connections get a second chance: recently
 * active ones move to the end of their list, up to 16 of them; if all 16 were active, the one that has been idle
 * longest is evicted.  A UDP stream of a single datagram gets no second chance, so a flood of them evicts itself, in
 * constant time.
 */
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

/* Class lists: a flow is in the list of its flow_cold_class(), which must be set first. */
static void
evict_list_append(struct flow_table *table, flow_index index, enum evict_class class)
{
	evict_list_link(table, &table->cold[index], index, class);
}

static void
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
	table->protocols[flow->kind].on_evict(table, flow, now, &events);
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

static void
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
static void
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

/* --- creation and removal --- */

/* Prefetches the memory of the flow that is created next. */
static void
flow_table_prefetch_next(const struct flow_table *table)
{
	flow_index next = table->free_head != 0 ? table->free_head : table->high_water + 1;

	__builtin_prefetch(&table->cold[next], 1);
	__builtin_prefetch(&table->hot[next], 1);
	__builtin_prefetch(&table->hot[next].tcp[0], 1);
	__builtin_prefetch(&table->hot[next].tcp[1], 1);
	if (table->records.entries != NULL)
		record_prefetch(&table->records.entries[next]);
}

/* Reuses the most recently freed flow, which is still in the caches. */
static flow_index
flow_table_alloc_index(struct flow_table *table)
{
	flow_index index = table->free_head;

	if (index == 0)
		index = ++table->high_water;
	else
		table->free_head = table->cold[index].evict_next;
	flow_table_prefetch_next(table);
	return index;
}

static flow_index
flow_table_make_room(struct flow_table *table, uint32_t hash, uint64_t now)
{
	flow_index index;

	if (table->counters.flows == 0)
		wheel_init(table, now);
	if (table->counters.flows == table->limits.flows)
		flow_table_run_timers(table, now); /* expire timers first; evict only if still full */
	if (table->counters.flows == table->limits.flows)
		evict_at_limit(table, now);
	while (table->home_slots < table->home_slots_max &&
	       flow_home_slots_for((uint32_t)table->counters.flows + 1) > table->home_slots)
		slots_grow(table);
	index = flow_table_alloc_index(table);
	while (!slots_insert(table, hash, index))
		evict_from_probe_sequence(table, hash, now);
	return index;
}

struct flow *
flow_table_create_flow(struct flow_table *table, const struct flow_key *key, uint32_t hash, enum flow_kind kind,
		       enum evict_class class, unsigned sender, uint64_t now, uint64_t deadline)
{
	flow_index index = flow_table_make_room(table, hash, now);
	struct flow *flow = &table->hot[index];

	*flow = (struct flow){
	    .key = *key,
	    .last_seen = now,
	    .hash = hash,
	    .kind = (unsigned)kind & 7u,
	    .first_sender = sender & 1,
	    .deadline = deadline,
	};
	table->cold[index] = (struct flow_cold){
	    .packed = ++table->last_serial << FLOW_COLD_SERIAL_SHIFT | class,
	    .first_seen = now,
	};
	record_begin(table, flow);
	evict_list_append(table, index, class);
	wheel_add(table, index);
	table->counters.flows++;
	table->counters.created++;
	return flow;
}

void
flow_table_remove_flow(struct flow_table *table, struct flow *flow)
{
	flow_index index = flow_index_of(table, flow);

	table->protocols[flow->kind].count_uncaptured(&table->counters, flow);
	record_drop(table, flow);
	wheel_remove(table, index);
	evict_list_remove(table, index);
	slots_remove(table, flow->hash, index);
	flow->key.version = 0;
	table->cold[index].packed = 0;
	table->cold[index].evict_next = table->free_head;
	table->free_head = index;
	table->counters.flows--;
}

void
flow_table_clear(struct flow_table *table)
{
	struct flow_events ignored;
	flow_index index;

	for (index = 1; index <= table->high_water; index++) {
		struct flow *flow = &table->hot[index];

		if (flow_cold_serial(&table->cold[index]) == 0)
			continue;
		record_prepare(table, flow);
		ignored.count = 0;
		table->protocols[flow->kind].on_evict(table, flow, flow->last_seen, &ignored);
		flow_report_end(table, flow, true);
		record_report_removal(table, flow, RECORD_CAPTURE_END);
		flow_table_remove_flow(table, flow);
	}
}

/* --- timers --- */

/* Runs the timer of a flow whose deadline has passed; the deadline is the time of its events, however late this
 * runs. */
static void
flow_expire(struct flow_table *table, flow_index index, uint64_t now)
{
	struct flow *flow = &table->hot[index];
	uint64_t deadline = flow->deadline, next;
	struct flow_events events;

	if (wheel_active_time(table, index) < deadline) {
		record_run_active(table, flow, now);
		wheel_requeue(table, index);
		return;
	}
	record_prepare(table, flow);
	events.count = 0;
	next = table->protocols[flow->kind].on_deadline(table, flow, deadline, &events);
	flow_report_end(table, flow, next == 0);
	flow_report_events(table, flow, &events);
	flow_table_report_ended(table);
	if (next == 0) {
		record_report_removal(table, flow, RECORD_IDLE);
		table->counters.expired++;
		flow_table_remove_flow(table, flow);
		return;
	}
	wheel_remove(table, index);
	/* A deadline that is not later is a bug; it must not stop the clock. */
	flow->deadline = next > deadline ? next : deadline_add(deadline, 1ull << WHEEL_TICK_BITS);
	wheel_add(table, index);
}

/* Fires timer-expire for each class of which timers have run. */
static void
flow_report_expired(const uint32_t expired[EVICT_CLASS_COUNT])
{
	for (unsigned class = 0; class < EVICT_CLASS_COUNT; class++)
		if (expired[class] != 0)
			engine_timer_expire(class, expired[class]);
}

/* Out of line: what runs for every packet, the comparison, needs no memory. */
static __attribute__((noinline)) void
flow_table_run_due_timers(struct flow_table *table, uint64_t now)
{
	uint32_t expired[EVICT_CLASS_COUNT] = {0};
	flow_index first;

	wheel_begin_run(table, now);
	while ((first = wheel_first_due(table, now)) != 0) {
		flow_index second = table->cold[first].wheel_next;

		__builtin_prefetch(&table->hot[second]);
		__builtin_prefetch(&table->cold[second]);
		expired[flow_cold_class(&table->cold[first])]++;
		flow_expire(table, first, now);
	}
	wheel_end_run(table);
	flow_report_expired(expired);
}

void
flow_table_run_timers(struct flow_table *table, uint64_t now)
{
	if (__builtin_expect(now - table->wheel.idle_base >= table->wheel.idle_span, 0))
		flow_table_run_due_timers(table, now);
}

/* Before an overdue flow is returned, its timer and all earlier ones run. */
static struct flow *
flow_table_lookup_after_timers(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now)
{
	struct flow *flow;

	flow_table_run_timers(table, now);
	while ((flow = flow_table_lookup(table, key, hash)) != NULL && deadline_is_due(flow->deadline, now))
		/* The wheel has not reached the flow, because time went backwards. */
		flow_expire(table, flow_index_of(table, flow), now);
	return flow;
}

struct flow *
flow_table_lookup_live(struct flow_table *table, const struct flow_key *key, uint32_t hash, uint64_t now)
{
	struct flow *flow = slots_lookup_candidate(table, key, hash);

	if (flow == NULL || __builtin_expect(!deadline_is_due(flow->deadline, now), 1))
		return flow;
	return flow_table_lookup_after_timers(table, key, hash, now);
}

/* --- what the capture lacks --- */

static void
flow_visit_uncaptured(void *context, const struct flow *flow)
{
	struct flow_table *table = context;

	table->protocols[flow->kind].count_uncaptured(&table->counters, flow);
}

void
flow_table_count_open(struct flow_table *table)
{
	flow_table_visit(table, flow_visit_uncaptured, table);
}
