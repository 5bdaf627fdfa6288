/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Late comments: those of firings that a timer has caused, between two frames.  Each belongs to the latest frame of its
 * connection before.
 */
#ifndef NETOBS_DAEMON_EXCERPT_EXCERPT_LATE_H
#define NETOBS_DAEMON_EXCERPT_EXCERPT_LATE_H

#include "daemon/excerpt/excerpt_index.h"
#include "daemon/excerpt/excerpt_selection.h"

/* Temporary files that late comments may need. */
#define EXCERPT_LATE_FILES 2u

struct excerpt_late {
	struct spool entries; /* struct late_entry */
	struct spool texts;   /* strings */
	size_t next;	      /* entry to be read next */
};

/* `files`: EXCERPT_LATE_FILES temporary files, which then belong to `late`, or -1. */
void excerpt_late_open(struct excerpt_late *late, const int files[]);
void excerpt_late_close(struct excerpt_late *late);

/* Adds a comment after the first `frames` frames.  False with errno. */
bool excerpt_late_add(struct excerpt_late *late, uint32_t connection, uint64_t frames, const char *text);

/* Finds the frames of the comments and sorts the comments by them.  False if out of memory. */
bool excerpt_late_resolve(struct excerpt_late *late, const struct excerpt_index *index);

/* After that: the next comment of this frame, and its connection; NULL if there are no more.  Frames are passed in
 * order. */
const char *excerpt_late_next(struct excerpt_late *late, uint64_t frame, uint32_t *connection);

#endif
