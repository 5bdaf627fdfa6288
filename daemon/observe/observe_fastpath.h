/* SPDX-License-Identifier: BSD-2-Clause */
/* The way of nearly all frames while nobody listens: a glance, and their connection moves on (flow/fastpath.h). */
#ifndef NETOBS_DAEMON_OBSERVE_OBSERVE_FASTPATH_H
#define NETOBS_DAEMON_OBSERVE_OBSERVE_FASTPATH_H

#include "daemon/observe/observer_internal.h"

/* Whether nothing hinders: frames are Ethernet, nobody listens, and every frame counts. */
bool observe_may_glance(const struct observer *o, const struct frame *first);

/* observe_frames() for such frames. */
void observe_at_a_glance(struct observer *o, const struct frame *frames, unsigned count);

#endif
