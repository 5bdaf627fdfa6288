/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --write NAME=FILE: captures with the whole connections of which a firing of NAME was seen, and only they.
 *
 * Whether a connection matches is known only after its first frames.  Files are read twice: the first pass is the
 * ordinary run, and what leaves a small ring that holds no bytes of frames becomes an index; the second pass reads the
 * frames again and writes those of the connections.  What can be read only once is delayed by a large ring: a frame
 * that leaves it is written if its connection has matched by then.
 */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPTS_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPTS_H

#include <stdbool.h>

#include "base/loop.h"
#include "config/config.h"
#include "formulas/formula_set.h"

struct excerpts;
struct observer;
struct workers;

/* Opens the files to write.  Call it before there are threads and before the process is confined.  NULL, with a message
 * logged, on failure. */
struct excerpts *excerpts_open(const struct config *config);

/* Opens the files to read, again if they are read twice. */
bool excerpts_open_inputs(struct excerpts *excerpts, struct loop *loop);

/* Receives the firings of the formulas and the frames of the observer from now on; both live as long as the excerpts.
 * False, with a message logged, on failure. */
bool excerpts_connect(struct excerpts *excerpts, struct formula_set *formulas, struct observer *observer);

/* Writes what remains, after the last frame.  `complete`: all input was read, or everything before its damage.  False
 * if a file is not written; a message is logged. */
bool excerpts_finish(struct excerpts *excerpts, const struct workers *workers, bool complete);

/* Removes files that are not complete.  NULL is allowed. */
void excerpts_free(struct excerpts *excerpts);

#endif
