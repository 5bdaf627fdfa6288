/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests that measure time: other programs only make a measurement larger, and their load may pass. */
#ifndef NETOBS_TESTS_LIB_OTHER_PROGRAMS_H
#define NETOBS_TESTS_LIB_OTHER_PROGRAMS_H

#include <time.h>

/* Waits half a second for the load of other programs, which also take memory from the caches, to pass. */
static inline void
wait_for_other_programs(void)
{
	const struct timespec wait = {.tv_nsec = 500000000};

	nanosleep(&wait, NULL); /* no event: other programs do not say when they have ended */
}

#endif
