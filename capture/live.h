/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures from interfaces in an event loop.  If an interface goes down, is renamed or is removed, the other interfaces
 * are still observed and netobsd waits for its return. */
#ifndef NETOBS_CAPTURE_LIVE_H
#define NETOBS_CAPTURE_LIVE_H

#include "base/loop.h"
#include "capture/input.h"
#include "config/config.h"
#include "host/interfaces.h"

struct fanout;

/* Share of one input if there are several workers. */
struct live_partition {
	unsigned number;       /* number of the input, from 0; only number 0 logs changes of interfaces */
	struct fanout *fanout; /* borrowed; NULL if there is only one input */
	bool may_reopen;       /* the capability to open interfaces is kept: those that are absent are awaited */
};

/* Opens every configured interface.  `interfaces` is borrowed, and its changes are subscribed to; it names the real
 * interfaces of frames on "any".  NULL, with a message logged, if an interface can neither be observed nor awaited. */
struct input *live_open(const struct config *config, struct loop *loop, struct interfaces *interfaces,
			const struct live_partition *partition);

#endif
