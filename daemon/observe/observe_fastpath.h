/* SPDX-License-Identifier: BSD-2-Clause */
/* The path of nearly all frames while no probe is enabled: peek at the headers and update the connection
 * (flow/fastpath.h). */
#ifndef NETOBS_DAEMON_OBSERVE_OBSERVE_FASTPATH_H
#define NETOBS_DAEMON_OBSERVE_OBSERVE_FASTPATH_H

#include "daemon/observe/observer_internal.h"

/* Whether the fast path can be used: Ethernet, no probe enabled, and no duplicates to skip. */
bool observe_can_use_fastpath(const struct observer *o, const struct frame *first);

/* observe_frames() on the fast path. */
void observe_run_fastpath(struct observer *o, const struct frame *frames, unsigned count);

#endif
