/* SPDX-License-Identifier: BSD-2-Clause */
/* The flows of a table at one moment, to compare the tables of two observers. */
#ifndef NETOBS_TESTS_OBSERVE_FLOW_SNAPSHOT_H
#define NETOBS_TESTS_OBSERVE_FLOW_SNAPSHOT_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "flow/record/flow_record.h"

struct flow_snapshot {
	const struct flow_table *table;
	struct flow *flows; /* in the order of their connection ids, as are the next three */
	uint64_t *ids;
	uint64_t *starts;
	struct flow_record *records; /* zero if no records are kept */
	unsigned count, capacity;
};

static inline void
flow_snapshot_add(void *context, const struct flow *flow)
{
	struct flow_snapshot *s = context;
	uint64_t id = flow_cid(s->table, flow, 0);
	unsigned at = s->count++;

	assert(s->count <= s->capacity);
	for (; at > 0 && s->ids[at - 1] > id; at--) {
		s->ids[at] = s->ids[at - 1];
		s->starts[at] = s->starts[at - 1];
		s->flows[at] = s->flows[at - 1];
		s->records[at] = s->records[at - 1];
	}
	s->ids[at] = id;
	s->starts[at] = flow_first_seen(s->table, flow);
	s->flows[at] = *flow;
	s->records[at] = flow_table_record(s->table, flow) != NULL ? *flow_table_record(s->table, flow) :
								     (struct flow_record){0};
	s->flows[at].local_epoch = 0; /* a cached decision, which the slow path need not have made */
}

/* Copies the flows of the table.  Ends the program if out of memory. */
static inline void
flow_snapshot_take(struct flow_snapshot *s, const struct flow_table *table)
{
	memset(s, 0, sizeof *s);
	s->table = table;
	s->capacity = (unsigned)flow_table_counters(table)->flows;
	s->flows = calloc(s->capacity + 1u, sizeof *s->flows);
	s->ids = calloc(s->capacity + 1u, sizeof *s->ids);
	s->starts = calloc(s->capacity + 1u, sizeof *s->starts);
	s->records = calloc(s->capacity + 1u, sizeof *s->records);
	if (s->flows == NULL || s->ids == NULL || s->starts == NULL || s->records == NULL)
		abort();
	flow_table_visit(table, flow_snapshot_add, s);
}

static inline void
flow_snapshot_free(struct flow_snapshot *s)
{
	free(s->flows);
	free(s->ids);
	free(s->starts);
	free(s->records);
}

/* The connection id of the first flow that differs, 0 if all are equal. */
static inline uint64_t
flow_snapshot_difference(const struct flow_snapshot *a, const struct flow_snapshot *b)
{
	unsigned common = a->count < b->count ? a->count : b->count;

	for (unsigned i = 0; i < common; i++)
		if (a->ids[i] != b->ids[i] || a->starts[i] != b->starts[i] ||
		    memcmp(&a->flows[i], &b->flows[i], sizeof a->flows[i]) != 0 ||
		    memcmp(&a->records[i], &b->records[i], sizeof a->records[i]) != 0)
			return a->ids[i];
	if (a->count == b->count)
		return 0;
	return a->count > b->count ? a->ids[common] : b->ids[common];
}

#endif
