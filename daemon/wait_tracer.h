/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for a tracer (--wait-tracer). */
#ifndef NETOBS_DAEMON_WAIT_TRACER_H
#define NETOBS_DAEMON_WAIT_TRACER_H

#include <stdbool.h>

#include "daemon/base/loop.h"

/* Waits until a probe is enabled and no other has followed for a quarter of a second; for at most `seconds` (0: for
 * ever) if none is, and says so.  False if the loop was stopped.  To be called before the printer is made, which
 * enables probes itself. */
bool wait_for_tracer(struct loop *loop, double seconds);

#endif
