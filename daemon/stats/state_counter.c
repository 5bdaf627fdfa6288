/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/state_counter.h"

#include "daemon/stats/flow_names.h"

/* Connections counted per call: about a millisecond of work. */
#define LOOKS 16384u

static void
count(struct census_counts *counts, const struct flow *flow)
{
	unsigned end = flow_near_end(flow);

	if (flow->kind == FLOW_UDP)
		counts->udp++;
	else if (flow->kind == FLOW_TCP)
		counts->tcp[flow->tcp[end].state]++;
	else
		counts->sctp[flow->sctp[end].state]++;
}

void
census_go_on(struct census *census, const struct flow_table *table)
{
	const struct flow *flow;

	for (unsigned i = 0; i < LOOKS; i++) {
		if (!flow_table_step(table, &census->place, &flow)) {
			census->told = census->counts;
			census->counts = (struct census_counts){0};
			census->place = 0;
			return;
		}
		if (flow != NULL)
			count(&census->counts, flow);
	}
}
