/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures from interfaces, in the event loop. */
#ifndef NETOBS_DAEMON_LIVE_H
#define NETOBS_DAEMON_LIVE_H

#include "daemon/config.h"
#include "daemon/input.h"
#include "daemon/interfaces.h"
#include "daemon/loop.h"

/* Opens every interface of the configuration.  `interfaces`, which is borrowed, names those that frames of "any" went
 * through.  NULL, with a message logged, if one of them cannot be observed. */
struct input *live_open(const struct config *config, struct loop *loop, const struct interfaces *interfaces);

#endif
