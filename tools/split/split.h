/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netobs-split: writes the frames of the input to several captures, each connection whole in one of them.
 *
 * The input is read twice.  The first pass joins the keys of each frame to groups (split_groups.h), so
 * that everything by which the flow table finds a connection is in one group; the second writes each frame to the
 * capture that the name of its group selects.  The time of a frame is packet time, and each capture ends with an empty
 * frame at the packet time at which the input ends: so the timers of a replay act as in a replay of the whole input.
 *
 * A child process with the privileges of a replay reads the frames.  This process creates the captures, parses nothing,
 * and gives them their names when the child has succeeded.
 */
#ifndef NETOBS_TOOLS_SPLIT_SPLIT_H
#define NETOBS_TOOLS_SPLIT_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/input.h"
#include "config/config.h"

struct split_request {
	struct config config; /* the files to read, the filter, and how the child is confined */
	uint32_t count;	      /* captures to write, 1 to SPLIT_FILES_MAX */
	const char *prefix;   /* of their names */
};

/* Parses the command line of netobs-split.  False, with a message logged, if it is not valid; config_free() must be
 * called for the configuration whatever the result. */
bool split_parse(int argc, char **argv, struct split_request *request);

/* INPUT_DAMAGED: the captures contain everything before the damage.  INPUT_FAILED: no file is left. */
enum input_result split_run(const struct split_request *request);

#endif
