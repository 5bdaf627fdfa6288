/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/state_counter.h"

#include "daemon/stats/flow_names.h"

/* Connections counted per call: about a millisecond of work. */
#define FLOWS_PER_STEP 16384u

static void
state_counts_add(struct state_counts *counts, const struct flow *flow)
{
	unsigned endpoint = flow_reported_endpoint(flow);

	if (flow->kind == FLOW_UDP) {
		counts->udp++;
	} else if (flow->kind == FLOW_TCP) {
		counts->tcp[flow->tcp[endpoint].state]++;
	} else {
		counts->sctp[flow->sctp[endpoint].state]++;
		counts->sctp_seen = 1;
	}
}

void
state_counter_step(struct state_counter *counter, const struct flow_table *table)
{
	const struct flow *flow;

	for (unsigned i = 0; i < FLOWS_PER_STEP; i++) {
		if (!flow_table_next(table, &counter->position, &flow)) {
			counter->complete = counter->partial;
			counter->partial = (struct state_counts){.sctp_seen = counter->complete.sctp_seen};
			counter->position = 0;
			return;
		}
		if (flow != NULL)
			state_counts_add(&counter->partial, flow);
	}
}
