/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts connections by state.  Counting a large table takes longer than capture may be blocked, so it runs in steps;
 * the last complete count is reported. */
#ifndef NETOBS_DAEMON_STATS_STATE_COUNTER_H
#define NETOBS_DAEMON_STATS_STATE_COUNTER_H

#include "flow/flow.h"

struct census_counts {
	uint64_t tcp[TCP_STATE_COUNT];	/* by the state of the local end (flow_near_end() in flow_words.h) */
	uint64_t sctp[SCTP_STATE_COUNT];
	uint64_t udp;
};

struct census {
	struct census_counts told; /* the last complete count */
	struct census_counts counts;
	uint32_t place;
};

/* Continues counting for a bounded time; called periodically. */
void census_go_on(struct census *census, const struct flow_table *table);

#endif
