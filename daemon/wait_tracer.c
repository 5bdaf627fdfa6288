/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/wait_tracer.h"

#include "daemon/base/log.h"
#include "probes/site/semaphores.h"

/* Polling interval: the kernel changes semaphores without a notification. */
#define TRACER_POLL_NS (10 * 1000000u)

/* A tracer enables its probes one by one.  It is ready when nothing has changed for this many polls, a quarter of a
 * second. */
#define STABLE_POLLS 25

bool
wait_for_tracer(struct loop *loop, double seconds)
{
	double polls = seconds * 1e9 / TRACER_POLL_NS;
	unsigned before = 0, stable_polls = 0;

	for (double i = 0; stable_polls < STABLE_POLLS; i++) {
		unsigned now;

		site_sync_dtrace();
		now = semaphores_sum();
		if (now == 0 && seconds > 0 && i >= polls) {
			log_warning("no tracer attached within %g s; starting without one", seconds);
			return true;
		}
		stable_polls = now != 0 && now == before ? stable_polls + 1 : 0;
		before = now;
		if (!loop_sleep(loop, TRACER_POLL_NS))
			return false;
	}
	return true;
}
