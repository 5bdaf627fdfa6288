/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection records: memory, client and server, the beginning of a record. */
#include <errno.h>
#include <string.h>

#include "flow/memory.h"
#include "flow/sctp/sctp.h"
#include "flow/table/table_internal.h"

/* Ports below this are well known (RFC 6335); ports below the second are in no common ephemeral range. */
#define WELL_KNOWN_PORTS 1024u
#define EPHEMERAL_PORTS	 32768u

/* --- memory --- */

static size_t
record_interfaces_size(void)
{
	return (size_t)RECORD_INTERFACES * RECORD_INTERFACE_NAME;
}

static size_t
record_times_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct flow_time);
}

static size_t
record_entries_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct flow_record);
}

size_t
flow_table_records_size(uint32_t flows)
{
	return record_entries_size(flows) + record_times_size(flows) + record_interfaces_size();
}

size_t
flow_table_names_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct record_name);
}

size_t
flow_table_rare_size(uint32_t flows)
{
	return flow_index_space(flows) * sizeof(struct record_rare);
}

static void
record_release(struct flow_table *table)
{
	struct record_table *records = &table->records;

	memory_release(records->entries, record_entries_size(table->limits.flows));
	memory_release(records->times, record_times_size(table->limits.flows));
	memory_release(records->interfaces, record_interfaces_size());
	memory_release(records->names, flow_table_names_size(table->limits.flows));
	memory_release(records->rare, flow_table_rare_size(table->limits.flows));
	records->entries = NULL;
	records->times = NULL;
	records->interfaces = NULL;
	records->names = NULL;
	records->rare = NULL;
	records->ended = NULL;
}

bool
flow_table_keep_records(struct flow_table *table, bool keep)
{
	struct record_table *records = &table->records;

	if (keep == (records->entries != NULL))
		return true;
	if (!keep) {
		record_release(table);
		if (records->active_interval_ns != 0)
			wheel_requeue_all(table);
		return true;
	}
	records->interfaces = memory_reserve(record_interfaces_size());
	records->entries = memory_reserve_huge(record_entries_size(table->limits.flows));
	records->times = memory_reserve_huge(record_times_size(table->limits.flows));
	records->names = memory_reserve(flow_table_names_size(table->limits.flows));
	records->rare = memory_reserve(flow_table_rare_size(table->limits.flows));
	if (records->entries != NULL && records->times != NULL && records->interfaces != NULL &&
	    records->names != NULL && records->rare != NULL)
		return true;
	record_release(table);
	errno = ENOMEM;
	return false;
}

void
record_table_free(struct flow_table *table)
{
	record_release(table);
}

/* --- client and server --- */

/* TCP: by the SYN or SYN,ACK; SCTP: by the INIT.  False if no such packet was captured. */
static bool
record_client_is_seen(const struct flow *flow, unsigned *client)
{
	unsigned first = flow->first_sender;

	for (unsigned i = 0; i < 2; i++) {
		unsigned endpoint = i == 0 ? first : 1 - first;

		if (flow->kind == FLOW_TCP ? (flow->tcp[endpoint].flags & TCP_EP_ACTIVE_OPEN) != 0 :
					     (flow->sctp[endpoint].flags & SCTP_EP_ACTIVE_OPEN) != 0) {
			*client = endpoint;
			return true;
		}
	}
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		if (flow->kind == FLOW_TCP ? (flow->tcp[endpoint].flags & TCP_EP_ISS_KNOWN) != 0 :
					     (flow->sctp[endpoint].flags & SCTP_EP_INIT_SEEN) != 0) {
			*client = 1 - endpoint;
			return true;
		}
	return false;
}

static bool
record_client_by_port(const struct flow_key *key, unsigned *client)
{
	static const unsigned limits[] = {WELL_KNOWN_PORTS, EPHEMERAL_PORTS};

	for (unsigned i = 0; i < 2; i++)
		if ((key->port[0] < limits[i]) != (key->port[1] < limits[i])) {
			*client = key->port[0] < limits[i] ? 1 : 0;
			return true;
		}
	return false;
}

void
record_set_role(const struct flow *flow, struct flow_record *record)
{
	enum record_role role = RECORD_ROLE_FIRST;
	unsigned client = flow->first_sender;

	if (flow->kind != FLOW_UDP && record_client_is_seen(flow, &client))
		role = RECORD_ROLE_SEEN;
	else if (record_client_by_port(&flow->key, &client))
		role = RECORD_ROLE_PORT;
	record->bits &= (uint16_t)~(RECORD_CLIENT | RECORD_ROLE);
	record->bits |= (uint16_t)((client != 0 ? (unsigned)RECORD_CLIENT : 0u) | (unsigned)role << RECORD_ROLE_SHIFT);
}

const char *
record_role_name(enum record_role role)
{
	static const char *const names[] = {
	    [RECORD_ROLE_SEEN] = "seen",
	    [RECORD_ROLE_PORT] = "port",
	    [RECORD_ROLE_FIRST] = "first",
	};

	return names[role];
}

/* --- beginning --- */

static void
record_init(struct flow_record *record, uint16_t bits)
{
	*record = (struct flow_record){
	    .bits = (uint16_t)(bits | RECORD_BEGUN),
	    .vlan = RECORD_NO_VLAN,
	};
}

void
record_begin(struct flow_table *table, const struct flow *flow)
{
	if (table->records.entries != NULL)
		record_init(&table->records.entries[flow_index_of(table, flow)], 0);
}

void
flow_record_from_now(const struct flow *flow, struct flow_record *record)
{
	record_init(record, RECORD_LATE);
	record->since = flow->last_seen;
	record_set_role(flow, record);
}

/* --- state --- */

const struct flow_record *
flow_table_record(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_record *record;

	if (table->records.entries == NULL)
		return NULL;
	record = &table->records.entries[flow_index_of(table, flow)];
	return (record->bits & RECORD_BEGUN) != 0 ? record : NULL;
}

bool
record_flow_is_closed(const struct flow *flow, const struct flow_record *record)
{
	if (flow->kind == FLOW_SCTP)
		return sctp_association_is_closed(flow) && (record->bits & RECORD_DOWN) != 0;
	if (flow->kind != FLOW_TCP || (flow->tcp[0].state == TCP_STATE_NONE && flow->tcp[1].state == TCP_STATE_NONE))
		return false;
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		uint8_t state = flow->tcp[endpoint].state;

		if (state != TCP_STATE_CLOSED && state != TCP_STATE_TIME_WAIT && state != TCP_STATE_NONE)
			return false;
	}
	return true;
}

uint32_t
record_multiples(const struct flow_table *table, flow_index index, uint64_t now)
{
	uint64_t first_seen = table->cold[index].first_seen, count = now > first_seen ? now - first_seen : 0;

	count /= table->records.active_interval_ns;
	return count < RECORD_ACTIVE_MAX ? (uint32_t)count : RECORD_ACTIVE_MAX;
}

unsigned
flow_find_client(const struct flow_table *table, const struct flow *flow, enum record_role *role)
{
	const struct flow_record *record = flow_table_record(table, flow);
	struct flow_record unkept;

	if (record == NULL) {
		flow_record_from_now(flow, &unkept);
		record = &unkept;
	}
	*role = flow_record_role(record);
	return flow_record_client(record);
}

/* --- in the middle --- */

/* Begins the record of a connection of which packets were captured that are not counted, by a packet or by a timer: the
 * reports of it as open that are overdue are not made up for. */
static void
record_begin_late(const struct flow_table *table, const struct flow *flow, struct flow_record *record)
{
	uint64_t now = wheel_time(table);

	flow_record_from_now(flow, record);
	if (now < flow->last_seen)
		now = flow->last_seen;
	if (table->records.active_interval_ns != 0)
		record->active_count = record_multiples(table, flow_index_of(table, flow), now) & RECORD_ACTIVE_MAX;
}

void
record_prepare(struct flow_table *table, struct flow *flow)
{
	struct flow_record *record;

	if (table->records.entries == NULL)
		return;
	record = &table->records.entries[flow_index_of(table, flow)];
	if ((record->bits & RECORD_BEGUN) != 0)
		return;
	record_begin_late(table, flow, record);
	if (flow->kind == FLOW_SCTP)
		record->bits |= RECORD_DOWN;
	if (record_flow_is_closed(flow, record))
		record->bits |= RECORD_ENDED;
	if (table->records.active_interval_ns != 0)
		wheel_requeue(table, flow_index_of(table, flow));
}

struct record_origin
record_origin(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_record *record = flow_table_record(table, flow);
	struct record_origin origin = {.vlan = RECORD_NO_VLAN};
	struct record_excess earlier;

	if (record == NULL)
		return origin;
	origin.interface = record->interface;
	origin.vlan = record->vlan;
	if (!record->waiting)
		return origin;
	earlier = table->records.rare[flow_index_of(table, flow)].earlier;
	for (unsigned end = 0; end < 2; end++) {
		origin.segments[end] = flow->tcp[end].segments_sent - earlier.segments[end];
		origin.wire[end] = record->wire[end];
	}
	return origin;
}

/* What is to be subtracted is negative: the flow does not count it. */
void
record_take_over(struct flow_table *table, const struct flow *flow, const struct record_origin *origin)
{
	struct record_excess *earlier;

	if (table->records.entries == NULL)
		return;
	table->records.entries[flow_index_of(table, flow)].follows = 1;
	earlier = &table->records.rare[flow_index_of(table, flow)].earlier;
	*earlier = (struct record_excess){.bytes = {0, 0}};
	for (unsigned end = 0; end < 2; end++) {
		earlier->segments[end] = flow->tcp[end].segments_sent - origin->segments[end];
		earlier->wire[end] = 0 - origin->wire[end];
	}
}

void
record_set_origin(struct flow_table *table, const struct flow *flow, struct record_origin origin)
{
	struct flow_record *record;

	if (table->records.entries == NULL)
		return;
	record = &table->records.entries[flow_index_of(table, flow)];
	record->interface = origin.interface;
	record->vlan = origin.vlan;
}

void
record_drop(struct flow_table *table, const struct flow *flow)
{
	if (table->records.entries == NULL)
		return;
	table->records.entries[flow_index_of(table, flow)].bits = 0;
	if (table->records.ended == flow)
		table->records.ended = NULL;
}

/* --- Names that application protocols give to connections. --- */

static struct flow_record *
record_of_named(const struct flow_table *table, const struct flow *flow)
{
	struct flow_record *record;

	if (table->records.entries == NULL)
		return NULL;
	record = &table->records.entries[flow_index_of(table, flow)];
	return (record->bits & RECORD_BEGUN) != 0 ? record : NULL;
}

bool
flow_table_wants_name(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_record *record = record_of_named(table, flow);

	return record != NULL && !record->named;
}

void
flow_table_set_name(struct flow_table *table, const struct flow *flow, const char *name, const char *from)
{
	struct flow_record *record = record_of_named(table, flow);
	struct record_name *entry;

	if (record == NULL || record->named || name[0] == '\0')
		return;
	entry = &table->records.names[flow_index_of(table, flow)];
	*entry = (struct record_name){.name = ""};
	memcpy(entry->name, name, strnlen(name, sizeof entry->name - 1));
	memcpy(entry->from, from, strnlen(from, sizeof entry->from - 1));
	record->named = 1;
}

const char *
flow_table_name(const struct flow_table *table, const struct flow *flow, const char **from)
{
	const struct flow_record *record = record_of_named(table, flow);
	const struct record_name *entry;

	*from = "";
	if (record == NULL || !record->named)
		return "";
	entry = &table->records.names[flow_index_of(table, flow)];
	*from = entry->from;
	return entry->name;
}
