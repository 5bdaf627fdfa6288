/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow table: memory, creation and removal of flows. */
#include "flow/table/table_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "flow/memory.h"

/* Indices are 32 bits wide, and there are more slots than flows. */
#define FLOWS_MAX (1u << 30)

#define HOME_SLOTS_FIRST 64u

struct flow_limits
flow_limits_default(void)
{
	return (struct flow_limits){
	    .flows = 1000000,
	    .tcp_connect_ns = 127 * NANOSECONDS,  /* tcp_syn_retries = 6: 1 + 2 + 4 + ... + 64 s */
	    .tcp_time_wait_ns = 60 * NANOSECONDS, /* TCP_TIMEWAIT_LEN */
	    .tcp_idle_ns = 432000 * NANOSECONDS,  /* nf_conntrack_tcp_timeout_established: five days */
	    .tcp_closing_ns = 120 * NANOSECONDS,  /* nf_conntrack_tcp_timeout_fin_wait */
	    .udp_idle_ns = 120 * NANOSECONDS,	  /* nf_conntrack_udp_timeout_stream */
	    .sctp_setup_ns = 90 * NANOSECONDS,	  /* 1.5 times the longest interval of T1 and T2 (RTO.Max) */
	    .sctp_idle_ns = 210 * NANOSECONDS,	  /* nf_conntrack_sctp_timeout_established: seven heartbeat intervals */
	    .sctp_closed_ns = 10 * NANOSECONDS,	  /* nf_conntrack_sctp_timeout_closed */
	    .tcp_reply_ns = NANOSECONDS / 1000,	  /* far longer than a packet takes from a host's tap to its socket */
	};
}

static uint32_t
flow_home_slots_for(uint32_t flows)
{
	return flows + flows / 3 + 1;
}

static size_t
slots_memory_size(uint32_t flows)
{
	return ((size_t)flow_home_slots_for(flows) + HASH_PROBE_MAX + 1) * sizeof(uint64_t);
}

static size_t
flow_hot_memory_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct flow);
}

static size_t
flow_cold_memory_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct flow_cold);
}

size_t
flow_table_memory_size(uint32_t flows)
{
	return sizeof(struct flow_table) + slots_memory_size(flows) + flow_hot_memory_size(flows) +
	       flow_cold_memory_size(flows) + tcp_pools_memory_size(flows) + sctp_addr_table_memory_size(flows);
}

struct flow_table *
flow_table_new(const struct flow_limits *limits, uint64_t seed, flow_event_handler *report, void *context)
{
	struct flow_table *table;

	if (limits->flows == 0 || limits->flows > FLOWS_MAX) {
		errno = EINVAL;
		return NULL;
	}
	table = calloc(1, sizeof *table);
	if (table == NULL)
		return NULL;
	table->limits = *limits;
	table->seed = seed;
	table->on_events = report;
	table->context = context;
	table->id_stride = 1;
	table->home_slots_max = flow_home_slots_for(limits->flows);
	table->home_slots = table->home_slots_max < HOME_SLOTS_FIRST ? table->home_slots_max : HOME_SLOTS_FIRST;
	table->slots = memory_reserve_huge(slots_memory_size(limits->flows));
	table->hot = memory_reserve_huge(flow_hot_memory_size(limits->flows));
	table->cold = memory_reserve_huge(flow_cold_memory_size(limits->flows));
	table->tcp_pools = tcp_pools_new(limits->flows);
	table->sctp_addrs = sctp_addr_table_new(limits->flows);
	if (table->slots == NULL || table->hot == NULL || table->cold == NULL || table->tcp_pools == NULL ||
	    table->sctp_addrs == NULL) {
		flow_table_free(table);
		errno = ENOMEM;
		return NULL;
	}
	wheel_init(table, 0);
	return table;
}

void
flow_table_populate(struct flow_table *table, uint32_t flows)
{
	if (flows > table->limits.flows)
		flows = table->limits.flows;
	memory_populate(table->slots, slots_memory_size(flows));
	memory_populate(table->hot, flow_hot_memory_size(flows));
	memory_populate(table->cold, flow_cold_memory_size(flows));
	tcp_pools_populate(table->tcp_pools, flows);
}

/* Prefetching and freeing each flow took 16 ns a packet of 183 with a million flows, so the table is freed as a
 * whole. */
void
flow_table_free(struct flow_table *table)
{
	if (table == NULL)
		return;
	record_table_free(table);
	memory_release(table->slots, slots_memory_size(table->limits.flows));
	memory_release(table->hot, flow_hot_memory_size(table->limits.flows));
	memory_release(table->cold, flow_cold_memory_size(table->limits.flows));
	tcp_pools_free(table->tcp_pools);
	sctp_addr_table_free(table->sctp_addrs);
	free(table);
}

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

	flow_count_uncaptured(table, flow);
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
flow_report_events(struct flow_table *table, struct flow *flow, const struct flow_events *events)
{
	if (events->count != 0)
		table->on_events(table->context, flow, events);
}

void
flow_report_end(struct flow_table *table, struct flow *flow, bool removed)
{
	if (table->on_end != NULL)
		table->on_end(table->context, flow, removed);
}

void
flow_table_set_end_handler(struct flow_table *table, flow_end_handler *handler)
{
	table->on_end = handler;
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
		flow_on_evict(table, flow, flow->last_seen, &ignored);
		flow_report_end(table, flow, true);
		record_report_removal(table, flow, RECORD_CAPTURE_END);
		flow_table_remove_flow(table, flow);
	}
}

struct flow_cold *
flow_cold(struct flow_table *table, const struct flow *flow)
{
	return &table->cold[flow_index_of(table, flow)];
}

void
flow_table_omit_states(struct flow_table *table, bool omit)
{
	table->omits_states = omit;
}

void
flow_table_expect_duplicate(struct flow_table *table, bool expected)
{
	table->expects_duplicate = expected;
}

bool
flow_table_expects_duplicate(const struct flow_table *table)
{
	return table->expects_duplicate;
}

bool
flow_table_omits_states(const struct flow_table *table)
{
	return table->omits_states;
}

const struct flow_limits *
flow_table_limits(const struct flow_table *table)
{
	return &table->limits;
}

struct sctp_addr_table *
flow_table_sctp_addrs(const struct flow_table *table)
{
	return table->sctp_addrs;
}

flow_index
flow_table_index(const struct flow_table *table, const struct flow *flow)
{
	return flow_index_of(table, flow);
}

struct flow *
flow_table_flow_at(const struct flow_table *table, flow_index index)
{
	return &table->hot[index];
}

void
flow_table_set_timeouts(struct flow_table *table, const struct flow_limits *limits)
{
	uint32_t flows = table->limits.flows;

	table->limits = *limits;
	table->limits.flows = flows;
}

struct tcp_pools *
flow_table_tcp_pools(const struct flow_table *table)
{
	return table->tcp_pools;
}

struct flow_counters *
flow_table_counters_rw(struct flow_table *table)
{
	return &table->counters;
}

const struct flow_counters *
flow_table_counters(const struct flow_table *table)
{
	return &table->counters;
}

void
flow_table_set_id_stride(struct flow_table *table, unsigned number, unsigned of)
{
	table->id_first = number;
	table->id_stride = of;
}

uint64_t
flow_cid(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	uint64_t before = flow_cold_serial(&table->cold[flow_index_of(table, flow)]) - 1;

	return 2 * (before * table->id_stride + table->id_first) + 1 + endpoint;
}

uint64_t
flow_first_seen(const struct flow_table *table, const struct flow *flow)
{
	return flow_table_time_stamp(table, table->cold[flow_index_of(table, flow)].first_seen);
}

uint64_t
flow_last_seen(const struct flow_table *table, const struct flow *flow)
{
	return flow_table_time_stamp(table, flow->last_seen);
}

void
flow_table_set_clock_offset(struct flow_table *table, uint64_t offset)
{
	table->clock_offset = offset;
}

uint64_t
flow_table_time_stamp(const struct flow_table *table, uint64_t time)
{
	return time - table->clock_offset;
}

void
flow_table_clear_local_epochs(struct flow_table *table)
{
	flow_index index;

	for (index = 1; index <= table->high_water; index++)
		table->hot[index].local_epoch = 0;
}

void
flow_table_set_slow(struct flow_table *table, flow_predicate *is_slow, const void *context)
{
	flow_index index;

	for (index = 1; index <= table->high_water; index++)
		if (flow_cold_serial(&table->cold[index]) != 0)
			table->hot[index].slow = is_slow(context, &table->hot[index]);
}

void
flow_table_visit(const struct flow_table *table, flow_visitor *visit, void *context)
{
	flow_index index;

	for (index = 1; index <= table->high_water; index++)
		if (flow_cold_serial(&table->cold[index]) != 0)
			visit(context, &table->hot[index]);
}

bool
flow_table_next(const struct flow_table *table, uint32_t *index, const struct flow **flow)
{
	if (*index >= table->high_water)
		return false;
	*index += 1;
	*flow = flow_cold_serial(&table->cold[*index]) != 0 ? &table->hot[*index] : NULL;
	return true;
}
