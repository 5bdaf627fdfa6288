/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for a tracer (--wait-tracer). */
#ifndef NETOBS_DAEMON_WAIT_H
#define NETOBS_DAEMON_WAIT_H

#include <stdbool.h>

#include "daemon/loop.h"

/* Whether anybody has raised the semaphore of a probe. */
bool wait_is_traced(void);

/* Waits until a probe is enabled, for at most `seconds` (0: for ever); says so if that time runs out.  False if the
 * loop was stopped.  To be called before the printer is made, which enables probes itself. */
bool wait_for_tracer(struct loop *loop, double seconds);

#endif
