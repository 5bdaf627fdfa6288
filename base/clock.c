/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock.h"

#include <stdbool.h>

/* A smaller difference is no step: clocks are slewed. */
#define STEP_MIN_NS 100000000u

/* Longest time between the readings of the two clocks: the thread may be preempted, or the process or machine paused,
 * between them.  The clocks are then read again, at most so often. */
#define READING_MAX_NS 10000000u
#define READINGS_MAX   8u

/* Reads CLOCK_REALTIME, and its difference to CLOCK_BOOTTIME.  False if there was a pause between the readings. */
static bool
host_clock_read_difference(uint64_t *now, uint64_t *difference)
{
	uint64_t before = clock_read_ns(CLOCK_BOOTTIME);

	*now = clock_realtime_ns();
	*difference = *now - before;
	return clock_read_ns(CLOCK_BOOTTIME) - before <= READING_MAX_NS;
}

uint64_t
host_clock_read(struct host_clock *clock)
{
	bool known = clock->now != 0, exact = false;
	uint64_t difference, step;

	for (unsigned readings = 0; !exact && readings < READINGS_MAX; readings++)
		exact = host_clock_read_difference(&clock->now, &difference);
	step = difference - clock->difference;
	if (!exact && known)
		return 0; /* the next call decides */
	clock->difference = difference;
	if (!known || step + STEP_MIN_NS <= 2ull * STEP_MIN_NS)
		return 0; /* slewed */
	clock->steps++;
	return step;
}
