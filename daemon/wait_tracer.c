/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/wait_tracer.h"

#include "base/log.h"
#include "config/formula_names.h"
#include "engine/engine.h"
#include "probes/site/semaphores.h"
#include "usdt/site_table.h"

/* Polling interval: the kernel changes semaphores without a notification. */
#define TRACER_POLL_NS (10 * 1000000u)

/* A tracer enables its probes one by one.  It is taken to be ready when nothing has changed for this many polls, a
 * quarter of a second; but it may need longer for one, and several clauses that read a probe are one change.  Only
 * wait-done shows the end, if the tracer enables it last. */
#define STABLE_POLLS 25

static bool
tracer_has_enabled_formulas(const struct formula_set *formulas, const char *names)
{
	for (unsigned i = 0; formulas != NULL && i < formula_set_count(formulas); i++) {
		struct formula_status status = formula_set_status(formulas, i);

		if (formula_names_select(names, formula_name(status.formula)) && !status.traced)
			return false;
	}
	return true;
}

/* Whether a tracer has enabled all probes and formulas to wait for, or any if there are none. */
static bool
tracer_has_enabled(const struct config *config, const struct formula_set *formulas)
{
	const char *probes = config->wait_probes;
	bool wanted[PROBE_COUNT];
	const char *unknown;
	size_t length;

	if (config->wait_done && !engine_wait_done_enabled())
		return false;
	if (probes == NULL || !formula_names_select_probes(config, probes, wanted, &unknown, &length))
		return semaphores_sum() + engine_tracers() != 0;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (wanted[i] && semaphores_read(i) == 0)
			return false;
	return tracer_has_enabled_formulas(formulas, probes);
}

bool
wait_for_tracer(struct loop *loop, const struct config *config, const struct formula_set *formulas)
{
	const char *probes = config->wait_probes;
	double seconds = config->wait_timeout;
	double polls = seconds * 1e9 / TRACER_POLL_NS;
	unsigned before = 0, stable_polls = 0;

	for (double i = 0; stable_polls < STABLE_POLLS; i++) {
		unsigned now;
		bool enabled;

		site_watch_poll();
		now = semaphores_sum() + engine_tracers();
		enabled = tracer_has_enabled(config, formulas);
		if (!enabled && seconds > 0 && i >= polls) {
			if (probes != NULL || config->wait_done)
				log_warning("no tracer enabled %s within %g s; starting without",
					    probes != NULL ? probes : "wait-done", seconds);
			else
				log_warning("no tracer attached within %g s; starting without one", seconds);
			return true;
		}
		stable_polls = enabled && now == before ? stable_polls + 1 : 0;
		before = now;
		if (!loop_sleep(loop, TRACER_POLL_NS))
			return false;
	}
	engine_wait_done(before);
	return true;
}
