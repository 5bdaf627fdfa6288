/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow table: creates and removes flows, evicts one if the table is full. */
#include <errno.h>
#include <stdlib.h>

#include "dissect/dissect.h"
#include "engine/engine.h"
#include "flow/memory.h"
#include "flow/table/table_internal.h"

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

/* What the capture lacks of a connection, counted when the connection is removed and at the end of the input: so
 * packets cost nothing. */

#define PORT_PRIVILEGED_END 1024u

/* --- what the capture lacks --- */

/* Whether TCP endpoint `endpoint` has sent what only an answer of its peer explains: ACKs of a handshake or of data, or
 * in mid-stream new data in several segments. */
static bool
uncaptured_tcp_is_answered(const struct flow *flow, unsigned endpoint)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint];

	if (flow->tcp[1 - endpoint].bytes != 0)
		return true;
	if ((e->flags & TCP_EP_ISS_KNOWN) != 0)
		return e->last_ack_sent != 0;
	return e->segments_sent > 1 && e->bytes != 0 && !e->retransmitted;
}

static bool
uncaptured_is_one_way(const struct flow *flow)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct sctp_endpoint *sctp = &flow->sctp[endpoint];

		if (flow->kind == FLOW_TCP && flow->tcp[1 - endpoint].segments_sent == 0 &&
		    uncaptured_tcp_is_answered(flow, endpoint))
			return true;
		if (flow->kind == FLOW_SCTP && flow->sctp[1 - endpoint].packets == 0 &&
		    (sctp->flags & SCTP_EP_CUM_ACK_KNOWN) != 0)
			return true;
	}
	return false;
}

/* By the port that the first sender sends to.  A service below port 1024 that answers a client on such a port is no
 * tunnel. */
static bool
uncaptured_is_tunnel(const struct flow *flow)
{
	return flow->kind == FLOW_UDP && dissect_port_is_of_closed_tunnel(flow->key.port[1 - flow->first_sender]) &&
	       flow->key.port[flow->first_sender] >= PORT_PRIVILEGED_END;
}

/* Counts what was not captured of a connection that is removed. */
static void
flow_count_uncaptured(struct flow_table *table, const struct flow *flow)
{
	table->counters.one_way += flow->local != 0 && uncaptured_is_one_way(flow);
	table->counters.tunnel_streams += uncaptured_is_tunnel(flow);
}

static void
uncaptured_visit(void *table, const struct flow *flow)
{
	flow_count_uncaptured(table, flow);
}

void
flow_table_count_open(struct flow_table *table)
{
	flow_table_visit(table, uncaptured_visit, table);
}

/* --- The flow table: memory, creation and removal of flows. --- */

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
