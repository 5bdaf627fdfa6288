/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's clocks in nanoseconds.  dissect/ and flow/ do not read them: they run on packet time. */
#ifndef NETOBS_BASE_CLOCK_H
#define NETOBS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t
clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Since the epoch, as time stamps of frames. */
static inline uint64_t
clock_realtime_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/* Detects steps of CLOCK_REALTIME, as settimeofday(2) and NTP make them, by CLOCK_BOOTTIME, which advances while the
 * machine is suspended, too, and is never set. */
struct host_clock {
	uint64_t now;	     /* CLOCK_REALTIME when it was read last, ns since the epoch */
	uint64_t difference; /* between the two clocks, modulo 2^64 */
	unsigned steps;	     /* so far */
};

/* Reads the clock.  Returns by how much it was stepped since the last call, modulo 2^64; 0 if it was not. */
uint64_t host_clock_read(struct host_clock *clock);

/* --------------------------------------------------------------------------------------------------- time histogram */

/*
 * A histogram of times: buckets of eight to a power of two, from 128 ns to two minutes, so that a quantile is too large
 * by at most an eighth.  It consists of 64-bit counters only, which may be added up.
 */

/* The times of bucket 0 are below 128 ns; the last bucket has no bound. */
#define TIME_HISTOGRAM_FIRST_BIT 7u
#define TIME_HISTOGRAM_LAST_BIT	 37u
#define TIME_HISTOGRAM_BUCKETS	 ((TIME_HISTOGRAM_LAST_BIT - TIME_HISTOGRAM_FIRST_BIT) * 8 + 2)

struct time_histogram {
	uint64_t count[TIME_HISTOGRAM_BUCKETS];
	uint64_t sum_ns;
	uint64_t largest_ns;
};

static inline unsigned
time_histogram_bucket(uint64_t ns)
{
	unsigned bit;

	if (ns >> TIME_HISTOGRAM_FIRST_BIT == 0)
		return 0;
	if (ns >> TIME_HISTOGRAM_LAST_BIT != 0)
		return TIME_HISTOGRAM_BUCKETS - 1;
	bit = 63 - (unsigned)__builtin_clzll(ns);
	return (bit - TIME_HISTOGRAM_FIRST_BIT) * 8 + (unsigned)(ns >> (bit - 3) & 7) + 1;
}

static inline void
time_histogram_add(struct time_histogram *histogram, uint64_t ns)
{
	histogram->count[time_histogram_bucket(ns)]++;
	histogram->sum_ns += ns;
	if (ns > histogram->largest_ns)
		histogram->largest_ns = ns;
}

/* Adds the samples of `from`. */
void time_histogram_merge(struct time_histogram *to, const struct time_histogram *from);

/* Number of samples; of those below `bound_ns`, a power of two from 128 to 2^37. */
uint64_t time_histogram_samples(const struct time_histogram *histogram);
uint64_t time_histogram_samples_below(const struct time_histogram *histogram, uint64_t bound_ns);

/* The time that `percent` of the samples do not exceed, ns, too large by at most an eighth; 0 without samples. */
uint64_t time_histogram_percentile(const struct time_histogram *histogram, unsigned percent);

#endif
