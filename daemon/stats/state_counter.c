/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/state_counter.h"

/* Connections counted per call: about a millisecond of work. */
#define FLOWS_PER_STEP 16384u

/* The endpoint that is counted: the local one, else the one that sent the first packet. */
static unsigned
state_counted_endpoint(const struct flow *flow)
{
	unsigned local = flow->local & 3u;

	if (local == 1 || local == 2)
		return local - 1;
	return flow->first_sender;
}

static void
state_counts_add(struct state_counts *counts, const struct flow *flow)
{
	unsigned endpoint = state_counted_endpoint(flow);

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
