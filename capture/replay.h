/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays capture files: pcap and pcapng, plain or compressed, several merged in time order, at any speed. */
#ifndef NETOBS_CAPTURE_REPLAY_H
#define NETOBS_CAPTURE_REPLAY_H

#include "base/loop.h"
#include "capture/input.h"
#include "config/config.h"

/* Opens every configured file without reading; input_start() reads, and compiles the filter for each file.  NULL, with
 * a message logged, if a file cannot be opened. */
struct input *replay_open(const struct config *config, struct loop *loop);

#endif
