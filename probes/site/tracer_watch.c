/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/site/tracer_watch.h"

#include "engine/engine.h"
#include "probes/site/semaphores.h"

static void
tracer_watch_compare(struct tracer_watch *watch, unsigned probe)
{
	unsigned semaphore = semaphores_read(probe);
	bool traced = semaphore != 0;

	if (watch->begun && traced && !watch->traced[probe])
		engine_tracer_come(probe, semaphore);
	if (watch->begun && !traced && watch->traced[probe])
		engine_tracer_gone(probe);
	watch->traced[probe] = traced;
}

void
tracer_watch_poll(struct tracer_watch *watch)
{
	if (!engine_tracer_come_enabled() && !engine_tracer_gone_enabled()) {
		watch->begun = false;
		return;
	}
	for (unsigned probe = 0; probe < PROBE_COUNT; probe++)
		tracer_watch_compare(watch, probe);
	watch->begun = true;
}
