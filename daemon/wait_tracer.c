/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/wait_tracer.h"

#include "daemon/base/log.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"

/* Polling interval: the kernel changes semaphores without a notification. */
#define TRACER_POLL_NS (10 * 1000000u)

/* A tracer enables its probes one by one.  It is ready when nothing has changed for this many polls, a quarter of a
 * second. */
#define STABLE_POLLS 25

/* Whether a tracer has enabled all of `probes`, or any probe if that is NULL. */
static bool
tracer_has_enabled(const char *probes)
{
	bool wanted[PROBE_COUNT];
	const char *unknown;
	size_t length;

	if (probes == NULL || !manifest_select_probes(probes, wanted, &unknown, &length))
		return semaphores_sum() != 0;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (wanted[i] && semaphores_read(i) == 0)
			return false;
	return true;
}

bool
wait_for_tracer(struct loop *loop, const char *probes, double seconds)
{
	double polls = seconds * 1e9 / TRACER_POLL_NS;
	unsigned before = 0, stable_polls = 0;

	for (double i = 0; stable_polls < STABLE_POLLS; i++) {
		unsigned now;
		bool enabled;

		site_sync_dtrace();
		now = semaphores_sum();
		enabled = tracer_has_enabled(probes);
		if (!enabled && seconds > 0 && i >= polls) {
			if (probes != NULL)
				log_warning("no tracer enabled %s within %g s; starting without", probes, seconds);
			else
				log_warning("no tracer attached within %g s; starting without one", seconds);
			return true;
		}
		stable_polls = enabled && now == before ? stable_polls + 1 : 0;
		before = now;
		if (!loop_sleep(loop, TRACER_POLL_NS))
			return false;
	}
	return true;
}
