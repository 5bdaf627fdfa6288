/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts connections by state.  Counting a large table takes longer than capture may be blocked, so it runs in steps;
 * the last complete count is reported. */
#ifndef NETOBS_DAEMON_STATS_STATE_COUNTER_H
#define NETOBS_DAEMON_STATS_STATE_COUNTER_H

#include "flow/flow.h"

struct state_counts {
	uint64_t tcp[TCP_STATE_COUNT]; /* by the state of the local endpoint, else of the first sender */
	uint64_t sctp[SCTP_STATE_COUNT];
	uint64_t udp;
	uint64_t sctp_seen; /* not 0 once an association was counted */
};

struct state_counter {
	struct state_counts complete; /* the last complete count */
	struct state_counts partial;
	uint32_t position;
};

/* Continues counting for a bounded time; called periodically. */
void state_counter_step(struct state_counter *counter, const struct flow_table *table);

#endif
