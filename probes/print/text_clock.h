/* SPDX-License-Identifier: BSD-2-Clause */
/* Time stamps as text, always UTC. */
#ifndef NETOBS_PROBES_PRINT_TEXT_CLOCK_H
#define NETOBS_PROBES_PRINT_TEXT_CLOCK_H

#include <stdint.h>

/* Bytes of a time stamp: "2026-11-20T11:02:03.123456789Z". */
#define TEXT_TIME_LENGTH 30

/* UTC time up to the second, cached so that the calendar is computed once per second. */
struct text_clock {
	uint64_t second; /* since the epoch */
	char prefix[32]; /* "2026-11-20T11:02:03." */
	unsigned length; /* of prefix; 0: not set */
};

/* Writes nanoseconds since the epoch as a time stamp.  At least 64 bytes at `at` are overwritten.  Returns its end. */
char *put_time(char *at, struct text_clock *clock, uint64_t ns);

#endif
