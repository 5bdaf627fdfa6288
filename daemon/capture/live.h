/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures from interfaces, in an event loop.  An interface may go down and up, be renamed, and go away and come back:
 * the others are observed on, and it is waited for. */
#ifndef NETOBS_DAEMON_CAPTURE_LIVE_H
#define NETOBS_DAEMON_CAPTURE_LIVE_H

#include "daemon/base/loop.h"
#include "daemon/capture/input.h"
#include "daemon/config/config.h"
#include "daemon/host/interfaces.h"

struct fanout;

/* Several threads may have such an input each. */
struct live_share {
	unsigned number;       /* from 0; only the first says what becomes of interfaces */
	struct fanout *fanout; /* borrowed; NULL where there is only one input */
};

/* Opens every interface of the configuration.  `interfaces`, which is borrowed and followed, names those that frames of
 * "any" went through.  NULL, with a message logged, if one of them cannot be observed. */
struct input *live_open(const struct config *config, struct loop *loop, struct interfaces *interfaces,
			const struct live_share *share);

#endif
