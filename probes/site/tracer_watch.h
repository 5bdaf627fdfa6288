/* SPDX-License-Identifier: BSD-2-Clause */
/* Notices tracers that attach to probes and leave them, for the probes tracer-come and tracer-gone of netobs_engine. */
#ifndef NETOBS_PROBES_SITE_TRACER_WATCH_H
#define NETOBS_PROBES_SITE_TRACER_WATCH_H

#include <stdbool.h>

#include "probes/probe_ids.h"

/* Initially zero. */
struct tracer_watch {
	bool begun; /* `traced` is valid */
	bool traced[PROBE_COUNT];
};

/* Fires the two probes for what has changed since the last call.  While neither is enabled nothing is remembered: the
 * first call afterwards fires nothing. */
void tracer_watch_poll(struct tracer_watch *watch);

#endif
