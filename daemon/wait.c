/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/wait.h"

#include "daemon/log.h"
#include "probes/sites.h"

/* The kernel changes semaphores without telling anybody, so they are looked at so often. */
#define LOOK_NS (10 * 1000000u)

bool
wait_is_traced(void)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (*probe_semaphores[i] != 0)
			return true;
	return false;
}

bool
wait_for_tracer(struct loop *loop, double seconds)
{
	double looks = seconds * 1e9 / LOOK_NS;

	for (double i = 0; !wait_is_traced(); i++) {
		if (seconds > 0 && i >= looks) {
			log_warning("no tracer has come within %g s; starting without", seconds);
			return true;
		}
		if (!loop_sleep(loop, LOOK_NS))
			return false;
	}
	return true;
}
