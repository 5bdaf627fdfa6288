/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/clock.h"

#include <stdbool.h>

/* A smaller difference is no step: clocks are slewed. */
#define STEP_MIN_NS 100000000u

/* Longest time between the readings of the two clocks: the thread may be preempted between them. */
#define READING_MAX_NS 10000000u

uint64_t
host_clock_read(struct host_clock *clock)
{
	uint64_t before = clock_read_ns(CLOCK_BOOTTIME);
	uint64_t now = clock_realtime_ns();
	uint64_t step = now - before - clock->difference;
	bool known = clock->now != 0;

	if (known && step + STEP_MIN_NS <= 2ull * STEP_MIN_NS) {
		clock->now = now;
		clock->difference += step; /* slewed */
		return 0;
	}
	if (known && clock_read_ns(CLOCK_BOOTTIME) - before > READING_MAX_NS)
		return 0; /* preempted: the next call decides */
	clock->now = now;
	clock->difference = now - before;
	return known ? step : 0;
}
