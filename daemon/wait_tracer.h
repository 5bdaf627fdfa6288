/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for a tracer (--wait-tracer, --wait-probes). */
#ifndef NETOBS_DAEMON_WAIT_TRACER_H
#define NETOBS_DAEMON_WAIT_TRACER_H

#include <stdbool.h>

#include "daemon/base/loop.h"

/* Waits until a tracer has enabled all of `probes`, a list of names and wildcards, or any probe if that is NULL, and
 * none has followed for a quarter of a second.  If they are not enabled it gives up after `seconds` (0: never) and logs
 * that.  False if the loop was stopped.  Call it before the printer is created, which enables probes itself. */
bool wait_for_tracer(struct loop *loop, const char *probes, double seconds);

#endif
