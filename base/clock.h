/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's clocks in nanoseconds.  dissect/ and flow/ read none of them: they run on packet time. */
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

#endif
