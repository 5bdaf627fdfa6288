/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of the observer about its clock, its window and tracers, without effect, for a test that links its own
 * observe_frames(). */
#ifndef NETOBS_TESTS_OBSERVE_OBSERVER_CLOCK_STUB_H
#define NETOBS_TESTS_OBSERVE_OBSERVER_CLOCK_STUB_H

#include "observe/observer.h"

void
observer_read_host_clock(struct observer *observer, struct host_clock *clock)
{
	(void)observer;
	(void)clock;
}

void
observer_poll_tracers(struct observer *observer)
{
	(void)observer;
}

void
observer_decide_held(struct observer *observer)
{
	(void)observer;
}

bool
observer_is_complete(const struct observer *observer)
{
	(void)observer;
	return false;
}

#endif
