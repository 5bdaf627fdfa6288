/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Late comments: those of firings that a timer has caused, between two frames.  Each belongs to the latest frame of its
 * connection before.
 */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_LATE_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_LATE_H

#include "flight/excerpt/excerpt_index.h"
#include "flight/excerpt/excerpt_selection.h"

struct excerpt_late {
	struct spool entries; /* struct late_entry; always in memory */
	struct spool texts;   /* strings */
	size_t next;	      /* entry to be read next */
	int error;	      /* errno of a failed read, 0 none */
};

/* `file`: a temporary file for the texts, which then belongs to `late`, or -1. */
void excerpt_late_open(struct excerpt_late *late, int file, size_t memory);
void excerpt_late_close(struct excerpt_late *late);

/* Adds a comment after the first `frames` frames.  False with errno. */
bool excerpt_late_add(struct excerpt_late *late, uint32_t connection, uint64_t frames, const char *text);

/* Finds the frames of the comments and sorts the comments by them.  False if out of memory; see also the error of
 * the index. */
bool excerpt_late_resolve(struct excerpt_late *late, struct excerpt_index *index);

/* After that: the next comment of this frame, and its connection; false if there are no more, or with `error`.  Frames
 * are passed in order. */
bool excerpt_late_next(struct excerpt_late *late, uint64_t frame, uint32_t *connection, char text[RING_COMMENT_MAX]);

#endif
