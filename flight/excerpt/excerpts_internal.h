/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the excerpts. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPTS_INTERNAL_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPTS_INTERNAL_H

#include "observe/second_pass.h"
#include "flight/excerpt/excerpt_comments.h"
#include "flight/excerpt/excerpt_file.h"
#include "flight/excerpt/excerpt_first_pass.h"
#include "flight/excerpt/excerpt_late.h"
#include "flight/excerpt/excerpt_left.h"
#include "flight/excerpt/excerpt_selection.h"
#include "flight/excerpt/excerpt_waiting.h"
#include "flight/excerpt/excerpts.h"
#include "flight/ring.h"

/* One --write. */
struct excerpt {
	char *name; /* of a formula or probe */
	const char *path;
	struct excerpt_file *file;
	struct excerpt_selection connections; /* with a firing */
	uint64_t firings, unconnected;	      /* firings; of them, those without a connection */
	struct excerpt_left left; /* delayed: frames that have left the ring unwritten */
	uint64_t missing;	  /* delayed: of these, frames of connections that matched later; at least as many if
				   * `left` has dropped counts */
	uint64_t comments_left_out; /* comments beyond EXCERPT_COMMENTS_MAX */
};

struct excerpts {
	const struct config *config;
	struct loop *loop;
	bool twice;	 /* the input is read twice; else it is delayed by the ring */
	bool commented;	 /* the format can hold comments */
	bool ended;	 /* packet time is behind the window */
	int error;	 /* errno of the first pass; 0 none */
	bool failed;	 /* a file cannot be written */
	struct excerpt_first_pass *first_pass; /* of a run with two */
	struct ring *ring;		       /* of one that is delayed */
	struct excerpt_selection any; /* connections of any excerpt */
	struct excerpt_index index;
	struct excerpt_late late;
	struct excerpt_waiting *waiting; /* delayed: late comments */
	struct excerpt_cursor cursor;
	struct second_pass *second_pass;
	struct frame_tally first, second; /* frames of the passes */
	struct written_statistics statistics;
	struct excerpt_comments comments; /* of the frame that is written */
	size_t count;
	struct excerpt excerpts[];
};

/* Whether a frame with this time stamp and packet time is behind the window (--to), where frames are read only for the
 * records of connections.  The first such frame ends the captures. */
static inline bool
excerpts_is_behind_window(struct excerpts *excerpts, uint64_t ts, uint64_t now)
{
	uint64_t to = excerpts->config->to;

	excerpts->ended = excerpts->ended || (to != 0 && now >= to);
	if (excerpts->ended)
		return true;
	if (excerpts->statistics.first == 0)
		excerpts->statistics.first = ts;
	excerpts->statistics.last = ts;
	return false;
}

/* Whether the readers of all files have closed them. */
bool excerpts_are_closed(const struct excerpts *excerpts);

/* Stops the run because of an error of the first pass. */
void excerpts_fail(struct excerpts *excerpts, int error);

/* excerpt_write.c: writes a frame that leaves the ring. */
void excerpts_write_delayed(void *context, const struct ring_frame *frame);

/* excerpt_write.c: reads the input again and writes the frames.  False with a message logged. */
bool excerpts_write_again(struct excerpts *excerpts);

#endif
