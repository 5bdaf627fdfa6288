/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow table: memory, creation and removal of flows. */
#include "flow/table/table_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Indices are 32 bits wide, and there are more slots than flows. */
#define FLOWS_MAX (1u << 30)

#define HOMES_FIRST 64u

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
homes_for(uint32_t flows)
{
	return flows + flows / 3 + 1;
}

static size_t
slots_size(uint32_t flows)
{
	return ((size_t)homes_for(flows) + PROBE_MAX + 1) * sizeof(uint64_t);
}

static size_t
hot_size(uint32_t flows)
{
	return ((size_t)flows + 1) * sizeof(struct flow);
}

static size_t
cold_size(uint32_t flows)
{
	return ((size_t)flows + 1) * sizeof(struct flow_cold);
}

size_t
flow_table_memory(uint32_t flows)
{
	return sizeof(struct flow_table) + slots_size(flows) + hot_size(flows) + cold_size(flows) +
	       tcp_store_memory(flows) + sctp_store_memory(flows);
}

/* Reserves zeroed memory, in huge pages if available.  Packets touch it at random, and TLB misses would cost 14 ns a
 * packet of 144 with 100,000 flows in a virtual machine.  A page fault then clears 2 MiB, which takes 0.1 ms once per
 * 11,000 new flows. */
static void *
reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, size, MADV_HUGEPAGE); /* optional: small pages work too */
	return memory;
}

static void
release(void *memory, size_t size)
{
	if (memory != NULL)
		munmap(memory, size);
}

struct flow_table *
flow_table_new(const struct flow_limits *limits, uint64_t seed, flow_timer_report *report, void *context)
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
	table->report = report;
	table->context = context;
	table->id_stride = 1;
	table->homes_most = homes_for(limits->flows);
	table->homes = table->homes_most < HOMES_FIRST ? table->homes_most : HOMES_FIRST;
	table->slots = reserve(slots_size(limits->flows));
	table->hot = reserve(hot_size(limits->flows));
	table->cold = reserve(cold_size(limits->flows));
	table->tcp = tcp_store_new(limits->flows);
	table->sctp = sctp_store_new(limits->flows);
	if (table->slots == NULL || table->hot == NULL || table->cold == NULL || table->tcp == NULL ||
	    table->sctp == NULL) {
		flow_table_free(table);
		errno = ENOMEM;
		return NULL;
	}
	wheel_start(table, 0);
	return table;
}

/* Prefetching and freeing each flow took 16 ns a packet of 183 with a million flows, so the table is freed as a
 * whole. */
void
flow_table_free(struct flow_table *table)
{
	if (table == NULL)
		return;
	release(table->slots, slots_size(table->limits.flows));
	release(table->hot, hot_size(table->limits.flows));
	release(table->cold, cold_size(table->limits.flows));
	tcp_store_free(table->tcp);
	sctp_store_free(table->sctp);
	free(table);
}

/* Reuses the most recently freed flow, which is still in the caches. */
static flow_index
take_index(struct flow_table *table)
{
	flow_index index = table->spare;

	if (index == 0)
		return ++table->top;
	table->spare = table->cold[index].class_next;
	__builtin_prefetch(&table->cold[table->spare], 1);
	return index;
}

static flow_index
make_room(struct flow_table *table, uint32_t hash, uint64_t now)
{
	flow_index index;

	if (table->counters.flows == 0)
		wheel_start(table, now);
	if (table->counters.flows == table->limits.flows)
		flow_table_run_timers(table, now); /* expire timers first; evict only if still full */
	if (table->counters.flows == table->limits.flows)
		evict_one(table, now);
	while (table->homes < table->homes_most && homes_for((uint32_t)table->counters.flows + 1) > table->homes)
		slots_grow(table);
	index = take_index(table);
	while (!slots_insert(table, hash, index))
		evict_crowded(table, hash, now);
	return index;
}

struct flow *
flow_create(struct flow_table *table, const struct flow_key *key, uint32_t hash, enum flow_kind kind,
	    enum flow_class class, unsigned sender, uint64_t now, uint64_t deadline)
{
	flow_index index = make_room(table, hash, now);
	struct flow *flow = &table->hot[index];

	*flow = (struct flow){
		.key = *key,
		.last = now,
		.hash = hash,
		.kind = (uint8_t)kind,
		.first = sender & 1,
		.deadline = deadline,
	};
	table->cold[index] = (struct flow_cold){
		.marks = ++table->serial << COLD_SERIAL_PLACE | class,
		.start = now,
	};
	class_append(table, index, class);
	wheel_add(table, index);
	table->counters.flows++;
	table->counters.created++;
	return flow;
}

void
flow_remove(struct flow_table *table, struct flow *flow)
{
	flow_index index = index_of(table, flow);

	wheel_remove(table, index);
	class_remove(table, index);
	slots_remove(table, flow->hash, index);
	flow->key.version = 0;
	table->cold[index].marks = 0;
	table->cold[index].class_next = table->spare;
	table->spare = index;
	table->counters.flows--;
}

void
flow_report(struct flow_table *table, struct flow *flow, const struct flow_events *events)
{
	if (events->count != 0)
		table->report(table->context, flow, events);
}

void
flow_table_clear(struct flow_table *table)
{
	struct flow_events untold;
	flow_index index;

	for (index = 1; index <= table->top; index++) {
		struct flow *flow = &table->hot[index];

		if (cold_serial(&table->cold[index]) == 0)
			continue;
		untold.count = 0;
		flow_evicted(table, flow, flow->last, &untold);
		flow_remove(table, flow);
	}
}

struct flow_cold *
flow_cold(struct flow_table *table, const struct flow *flow)
{
	return &table->cold[index_of(table, flow)];
}

const struct flow_limits *
flow_table_limits(const struct flow_table *table)
{
	return &table->limits;
}

struct sctp_store *
flow_table_sctp(const struct flow_table *table)
{
	return table->sctp;
}

flow_index
flow_table_index(const struct flow_table *table, const struct flow *flow)
{
	return index_of(table, flow);
}

struct flow *
flow_table_at(const struct flow_table *table, flow_index index)
{
	return &table->hot[index];
}

void
flow_table_set_times(struct flow_table *table, const struct flow_limits *limits)
{
	uint32_t flows = table->limits.flows;

	table->limits = *limits;
	table->limits.flows = flows;
}

struct tcp_store *
flow_table_tcp(const struct flow_table *table)
{
	return table->tcp;
}

struct flow_counters *
flow_table_count(struct flow_table *table)
{
	return &table->counters;
}

const struct flow_counters *
flow_table_counters(const struct flow_table *table)
{
	return &table->counters;
}

void
flow_table_share_ids(struct flow_table *table, unsigned number, unsigned of)
{
	table->id_first = number;
	table->id_stride = of;
}

uint64_t
flow_cid(const struct flow_table *table, const struct flow *flow, unsigned end)
{
	uint64_t before = cold_serial(&table->cold[index_of(table, flow)]) - 1;

	return 2 * (before * table->id_stride + table->id_first) + 1 + end;
}

uint64_t
flow_start(const struct flow_table *table, const struct flow *flow)
{
	return table->cold[index_of(table, flow)].start;
}

void
flow_table_visit(const struct flow_table *table, flow_visitor *visit, void *context)
{
	flow_index index;

	for (index = 1; index <= table->top; index++)
		if (cold_serial(&table->cold[index]) != 0)
			visit(context, &table->hot[index]);
}

bool
flow_table_step(const struct flow_table *table, uint32_t *place, const struct flow **flow)
{
	if (*place >= table->top)
		return false;
	*place += 1;
	*flow = cold_serial(&table->cold[*place]) != 0 ? &table->hot[*place] : NULL;
	return true;
}
