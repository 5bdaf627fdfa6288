/* SPDX-License-Identifier: BSD-2-Clause */
/* Made of all records: the connections that are open in each interval. */
#ifndef NETOBS_REPORT_OVERVIEW_H
#define NETOBS_REPORT_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_capture.h"

/* TCP connections of an interval by state, and how those that end in it end. */
struct report_states {
	int64_t opening[REPORT_BINS + 1], open[REPORT_BINS + 1];
	uint64_t closed[REPORT_BINS], failed[REPORT_BINS];
};

void report_overview_states(const struct report_capture *capture, struct report_states *states);

#endif
