/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/wait_tracer.h"

#include "daemon/base/log.h"
#include "probes/site/semaphores.h"

/* The kernel changes semaphores without telling anybody, so they are looked at so often. */
#define LOOK_NS (10 * 1000000u)

/* A tracer enables its probes one after the other, the last of them perhaps first: it is ready when nothing has changed
 * for so many looks, a quarter of a second. */
#define LOOKS_AT_REST 25

bool
wait_for_tracer(struct loop *loop, double seconds)
{
	double looks = seconds * 1e9 / LOOK_NS;
	unsigned before = 0, at_rest = 0;

	for (double i = 0; at_rest < LOOKS_AT_REST; i++) {
		unsigned now;

		site_ask_dtrace();
		now = probes_raised();

		if (now == 0 && seconds > 0 && i >= looks) {
			log_warning("no tracer has come within %g s; starting without", seconds);
			return true;
		}
		at_rest = now != 0 && now == before ? at_rest + 1 : 0;
		before = now;
		if (!loop_sleep(loop, LOOK_NS))
			return false;
	}
	return true;
}
