/* SPDX-License-Identifier: BSD-2-Clause */
/* How many connections are in which state.  Counting a large table takes longer than capture may wait, so it is done
 * bit by bit, and the last whole count is what is told. */
#ifndef NETOBS_DAEMON_STATS_STATE_COUNTER_H
#define NETOBS_DAEMON_STATS_STATE_COUNTER_H

#include "flow/flow.h"

struct census_counts {
	uint64_t tcp[TCP_STATE_COUNT];	/* by the state of the near end (flow_words.h) */
	uint64_t sctp[SCTP_STATE_COUNT];
	uint64_t udp;
};

struct census {
	struct census_counts told; /* of the last whole count */
	struct census_counts counts;
	uint32_t place;
};

/* Goes on counting for a bounded time; to be called now and then. */
void census_go_on(struct census *census, const struct flow_table *table);

#endif
