/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow table as the machines of the protocols and readers see it: one flow, all flows, settings. */
#include "flow/table/table_internal.h"

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

void
flow_table_set_end_handler(struct flow_table *table, flow_end_handler *handler)
{
	table->on_end = handler;
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
