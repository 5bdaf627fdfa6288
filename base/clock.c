/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock.h"

#include <stdbool.h>

/* A smaller difference is not a step: clocks are slewed. */
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

/* --------------------------------------------------------------------------------------------------- time histogram */

void
time_histogram_merge(struct time_histogram *to, const struct time_histogram *from)
{
	for (unsigned i = 0; i < TIME_HISTOGRAM_BUCKETS; i++)
		to->count[i] += from->count[i];
	to->sum_ns += from->sum_ns;
	if (from->largest_ns > to->largest_ns)
		to->largest_ns = from->largest_ns;
}

/* Samples of the first `buckets` buckets. */
static uint64_t
time_histogram_sum(const struct time_histogram *histogram, unsigned buckets)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i < buckets; i++)
		samples += histogram->count[i];
	return samples;
}

uint64_t
time_histogram_samples(const struct time_histogram *histogram)
{
	return time_histogram_sum(histogram, TIME_HISTOGRAM_BUCKETS);
}

uint64_t
time_histogram_samples_below(const struct time_histogram *histogram, uint64_t bound_ns)
{
	return time_histogram_sum(histogram, time_histogram_bucket(bound_ns));
}

/* The first time that is too large for a bucket, which is not the last one. */
static uint64_t
time_histogram_bound(unsigned bucket)
{
	unsigned bit = bucket / 8 + TIME_HISTOGRAM_FIRST_BIT;

	return (UINT64_C(8) + bucket % 8) << (bit - 3);
}

uint64_t
time_histogram_percentile(const struct time_histogram *histogram, unsigned percent)
{
	uint64_t samples = time_histogram_samples(histogram), below = 0, bound;
	uint64_t wanted = samples / 100 * percent + (samples % 100 * percent + 99) / 100;

	for (unsigned i = 0; i < TIME_HISTOGRAM_BUCKETS - 1; i++) {
		below += histogram->count[i];
		if (below < wanted || below == 0)
			continue;
		bound = time_histogram_bound(i);
		return bound < histogram->largest_ns ? bound : histogram->largest_ns;
	}
	return histogram->largest_ns;
}
