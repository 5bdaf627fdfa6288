/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that application protocols give to connections. */
#include <string.h>

#include "flow/record/record_internal.h"
#include "flow/table/table_internal.h"

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
