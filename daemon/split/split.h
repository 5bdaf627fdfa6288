/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --split: writes the frames of the input to several captures, each connection whole in one of them.
 *
 * The input is read twice.  The first pass joins the keys of each frame (split_keys.h) to groups (split_groups.h), so
 * that everything by which the flow table finds a connection is in one group; the second writes each frame to the
 * capture that the name of its group selects.  The time of a frame is packet time, and each capture ends with an empty
 * frame at the packet time at which the input ends: so the timers of a replay act as in a replay of the whole input.
 *
 * A child process with the privileges of a replay reads the frames.  This process creates the captures, parses nothing,
 * and gives them their names when the child has succeeded.
 */
#ifndef NETOBS_DAEMON_SPLIT_SPLIT_H
#define NETOBS_DAEMON_SPLIT_SPLIT_H

#include "capture/input.h"
#include "config/config.h"

/* INPUT_DAMAGED: the captures contain everything before the damage.  INPUT_FAILED: no file is left. */
enum input_result split_run(const struct config *config);

#endif
