/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first pass over files: a listener of the observer adds each frame to the index.  Nothing of the frame itself is
 * kept.  Connections, fragments and notes of a frame have the same limits as in a ring, so that both give the same
 * captures.
 */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_FIRST_PASS_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_FIRST_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "config/config.h"
#include "flight/excerpt/excerpt_file.h"
#include "flight/excerpt/excerpt_index.h"
#include "observe/second_pass.h"

struct excerpt_first_pass;
struct observer;

/* What is read, and how far. */
struct excerpt_input {
	const struct config *config;
	struct loop *loop; /* of the run */
	bool commented;	   /* the format of the captures can hold comments */
	bool ended;	   /* packet time is after the window */
	int error;	   /* errno, with which the first pass or the delay has stopped the run; 0 none */
	struct frame_tally tally; /* frames of the first pass */
	struct written_statistics statistics;
};

/* Whether a frame with this time stamp and packet time is after the window (--to), where frames are read only for the
 * records of connections.  The first such frame ends the captures. */
static inline bool
excerpt_input_is_after_window(struct excerpt_input *input, uint64_t ts, uint64_t now)
{
	uint64_t to = input->config->to;

	input->ended = input->ended || (to != 0 && now >= to);
	if (input->ended)
		return true;
	if (input->statistics.first == 0)
		input->statistics.first = ts;
	input->statistics.last = ts;
	return false;
}

/* Stops the run because of an error. */
void excerpt_input_fail(struct excerpt_input *input, int error);

/* Listens to the observer from now on.  The input, the index and the observer are borrowed.  NULL if out of memory. */
struct excerpt_first_pass *excerpt_first_pass_new(struct excerpt_input *input, struct excerpt_index *index,
						  struct observer *observer, uint32_t flows, uint64_t seed);
void excerpt_first_pass_free(struct excerpt_first_pass *pass);

/* Adds a comment to the frame in progress. */
void excerpt_first_pass_add_text(struct excerpt_first_pass *pass, uint32_t connection, const char *text);

/* Comments and connections of which a frame had too many. */
uint64_t excerpt_first_pass_left_out(const struct excerpt_first_pass *pass);

#endif
