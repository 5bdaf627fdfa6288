/* SPDX-License-Identifier: BSD-2-Clause */
/* Made of all records: the addresses with most bytes, and the connections that are open in each interval. */
#ifndef NETOBS_REPORT_OVERVIEW_H
#define NETOBS_REPORT_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_capture.h"

#define REPORT_TALKERS 10u

struct report_talker {
	const char *address; /* of a record */
	uint64_t sent, received, connections;
};

/* TCP connections of an interval by state, and how those that end in it end. */
struct report_states {
	int64_t opening[REPORT_BINS + 1], open[REPORT_BINS + 1];
	uint64_t closed[REPORT_BINS], failed[REPORT_BINS];
};

/* The addresses with most bytes, most first; their number.  `all` is false if out of memory. */
size_t report_overview_talkers(const struct report_capture *capture, struct report_talker *talkers, bool *all);

void report_overview_states(const struct report_capture *capture, struct report_states *states);

#endif
