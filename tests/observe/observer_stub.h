/* SPDX-License-Identifier: BSD-2-Clause */
/* All functions of the observer that the capture calls except observe_frames(), without effect, for a test that links
 * its own observe_frames(). */
#ifndef NETOBS_TESTS_OBSERVE_OBSERVER_STUB_H
#define NETOBS_TESTS_OBSERVE_OBSERVER_STUB_H

#include "tests/observe/observer_clock_stub.h"

void
observer_advance_clock(struct observer *observer, uint64_t now)
{
	(void)observer;
	(void)now;
}

void
observer_clear(struct observer *observer)
{
	(void)observer;
}

bool
observer_flush_records(struct observer *observer)
{
	(void)observer;
	return true;
}

void
observer_populate_flows(struct observer *observer, uint32_t flows)
{
	(void)observer;
	(void)flows;
}

#endif
