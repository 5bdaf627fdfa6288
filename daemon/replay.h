/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures from files: pcap and pcapng, plain or compressed, several merged in time order, at any speed. */
#ifndef NETOBS_DAEMON_REPLAY_H
#define NETOBS_DAEMON_REPLAY_H

#include "daemon/config.h"
#include "daemon/input.h"
#include "daemon/loop.h"

/* Opens every file of the configuration and compiles the filter for each.  NULL, with a message logged unless the
 * loop was stopped, if one of them cannot be replayed. */
struct input *replay_open(const struct config *config, struct loop *loop);

#endif
