/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the excerpts. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPTS_INTERNAL_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/excerpt/excerpt_file.h"
#include "flight/excerpt/excerpt_index.h"
#include "flight/excerpt/excerpts.h"
#include "flight/ring.h"
#include "observe/second_pass.h"

/* Most comments of a frame; further ones are counted.  So many fit into a block of a pcapng file. */
#define EXCERPT_COMMENTS_MAX ((size_t)4096)

struct excerpt_comment {
	uint32_t connection;
	char text[RING_COMMENT_MAX];
};

struct excerpt_comments {
	struct excerpt_comment *comments;
	const char **selected; /* room for as many */
	size_t count, capacity;
};

/* -------------------------------------------------------------------------------------------- frames that have left */

/*
 * Frames that have left the ring unwritten, of each connection that may match later.  Memory is bounded: if there are
 * too many connections, the counts of the oldest are dropped.
 */

/* Most connections of which frames are counted, 8 bytes each; a power of two. */
#define EXCERPT_LEFT_MAX ((size_t)1024 * 1024)

struct left_count {
	uint32_t connection, frames;
};

struct excerpt_left {
	struct left_count *counts; /* by the lowest bits of the connection's number */
	size_t size, max;	   /* powers of two, or 0 */
	uint32_t latest;	   /* the highest number of a connection */
	bool dropped;		   /* counts were dropped */
};

void excerpt_left_open(struct excerpt_left *left, size_t max);
void excerpt_left_close(struct excerpt_left *left);

/* Counts a frame.  False if out of memory. */
bool excerpt_left_add(struct excerpt_left *left, uint32_t connection);

/* The frames of a connection; at least as many if `dropped`. */
uint32_t excerpt_left_frames(const struct excerpt_left *left, uint32_t connection);

/* ----------------------------------------------------------------------------------------------------- the excerpts */

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
	bool ended;	 /* packet time is after the window */
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

/* Whether a frame with this time stamp and packet time is after the window (--to), where frames are read only for the
 * records of connections.  The first such frame ends the captures. */
static inline bool
excerpts_is_after_window(struct excerpts *excerpts, uint64_t ts, uint64_t now)
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

/* Stops the run because of an error of the first pass. */
void excerpts_fail(struct excerpts *excerpts, int error);

/* --------------------------------------------------------------------------------------------------- the first pass */

/*
 * The first pass over files: a listener of the observer adds each frame to the index.  Nothing of the frame itself is
 * kept.  Connections, fragments and notes of a frame have the same limits as in a ring, so that both give the same
 * captures.
 */

struct excerpt_first_pass;
struct excerpts;
struct observer;

/* Listens to the observer from now on.  `excerpts` and the observer are borrowed.  NULL if out of memory. */
struct excerpt_first_pass *excerpt_first_pass_new(struct excerpts *excerpts, struct observer *observer, uint32_t flows,
						  uint64_t seed);
void excerpt_first_pass_free(struct excerpt_first_pass *pass);

/* Adds a comment to the frame in progress. */
void excerpt_first_pass_add_text(struct excerpt_first_pass *pass, uint32_t connection, const char *text);

/* Comments and connections of which a frame had too many. */
uint64_t excerpt_first_pass_left_out(const struct excerpt_first_pass *pass);

#endif
