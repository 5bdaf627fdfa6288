/* SPDX-License-Identifier: BSD-2-Clause */
/* What --write keeps of the frames of its first pass, and of those in the ring. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_INDEX_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flight/ring.h"

/* -------------------------------------------------------------------------------------------------------- the spool */

/*
 * A growing array of bytes.  The latest bytes are in memory, the ones before in a temporary file.  The file is read and
 * written by system calls, not mapped: a full disk is an error.
 */

/* Most bytes in memory of the arrays of a run. */
#define SPOOL_MEMORY ((size_t)64 * 1024 * 1024)

/* Least bytes in memory, and most bytes that are read at once. */
#define SPOOL_MEMORY_MIN ((size_t)4096)

#define SPOOL_WINDOW ((size_t)16 * 1024)

struct spool {
	uint8_t *data; /* the bytes from `start` on; moves when the array grows */
	size_t used, capacity;
	size_t memory;	/* most bytes in memory */
	uint64_t start; /* bytes in the file */
	int fd;		/* of the temporary file, -1 none */
	uint64_t window_start;
	size_t window_size; /* 0: nothing was read */
	uint8_t *window;    /* bytes of the file; NULL until the first read */
};

/* `fd`: an empty temporary file, which then belongs to the spool; -1: everything stays in memory. */
void spool_open(struct spool *spool, int fd, size_t memory);
void spool_close(struct spool *spool);

/* Bytes of the array. */
static inline uint64_t
spool_size(const struct spool *spool)
{
	return spool->start + spool->used;
}

/* Makes room in memory for `more` bytes, at most half of `memory`.  False with errno. */
bool spool_reserve(struct spool *spool, size_t more);

/* Appends bytes.  False with errno. */
static inline bool
spool_add(struct spool *spool, const void *from, size_t size)
{
	if (__builtin_expect(size > spool->capacity - spool->used, 0) && !spool_reserve(spool, size))
		return false;
	memcpy(spool->data + spool->used, from, size);
	spool->used += size;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- the index */

/*
 * Index of the frames of a replay, for its second pass: of each frame its connections, direction and packet id, and
 * the notes of what happened at it.  A frame of one connection takes four bytes.
 *
 * A connection has a number, from 1: the rank of its connection ids (flow_cid()).
 */

/* Most connections of a run with an index. */
#define EXCERPT_CONNECTIONS_MAX ((UINT32_C(1) << 30) - 1)

/* Temporary files that an index may need. */
#define EXCERPT_INDEX_FILES 4u

struct excerpt_index {
	struct spool frames;  /* uint32_t: number of the first connection, 0 none; direction in the highest bits */
	struct spool further; /* struct indexed_connection: further connections of frames */
	struct spool ids;     /* struct indexed_id: packet ids that are not the previous one plus 1 */
	struct spool notes;   /* struct indexed_note, each followed by what its event needs */
	uint64_t count;	      /* frames */
	uint64_t packet_id;   /* of the latest frame */
	uint64_t note_frame;  /* frame of the latest note */
	int error;	      /* errno of a failed read, 0 none */
};

/* The next frame to be read, and where what belongs to it begins. */
struct excerpt_cursor {
	struct excerpt_index *index;
	uint64_t frame;
	uint64_t packet_id; /* of the frame before */
	uint64_t further, ids, notes;
	uint64_t further_frame; /* frame of the entry at `further` and of that at `ids`, UINT64_MAX none */
	uint64_t id_frame;
	uint64_t note_frame; /* frame of the note before */
};

struct indexed_frame {
	uint64_t number; /* from 0 */
	uint64_t packet_id;
	unsigned direction;  /* DIRECTION_ value */
	uint32_t connection; /* the first one, 0 none */
	size_t further_count;
	uint64_t further; /* of the index: the first further connection */
};

/* The number of the connection with this connection id, of either end; 0 for 0. */
static inline uint64_t
excerpt_connection_number(uint64_t cid)
{
	return (cid + 1) / 2;
}

/* `files`: EXCERPT_INDEX_FILES temporary files, which then belong to the index, or -1.  `memory`: of each spool. */
void excerpt_index_open(struct excerpt_index *index, const int files[], size_t memory);
void excerpt_index_close(struct excerpt_index *index);

/* The functions that add return false with errno. */

/* Appends a frame: its first connection, 0 none. */
bool excerpt_index_add(struct excerpt_index *index, uint32_t connection, unsigned direction, uint64_t packet_id);

/* Adds a further connection to the frame that will be appended next; 0: the place for one that is known later. */
bool excerpt_index_add_further(struct excerpt_index *index, uint32_t connection);

/* Adds a connection to an earlier frame, in its first free place.  No effect if there is none, or if the frame is not
 * longer in memory. */
void excerpt_index_resolve(struct excerpt_index *index, uint64_t frame, uint32_t connection);

/* Adds a note to the frame that will be appended next. */
bool excerpt_index_add_note(struct excerpt_index *index, uint32_t connection, unsigned endpoint,
			    const struct event_note *note);
bool excerpt_index_add_text(struct excerpt_index *index, uint32_t connection, const char *text);

/* The functions that read set `error` on failure. */

/* The number of connection `i` of a frame, from 0; 0 after the last one. */
uint32_t excerpt_index_connection(struct excerpt_index *index, const struct indexed_frame *frame, size_t i);

/* The first connection of a frame, 0 none.  For a loop over the frames from the last to the first: each call of the
 * second function returns a further one; false if there are no more.  `*at` is the size of `further` at first. */
uint32_t excerpt_index_first_connection(struct excerpt_index *index, uint64_t frame);
bool excerpt_index_further_backwards(struct excerpt_index *index, uint64_t frame, uint64_t *at, uint32_t *connection);

/* Reads the frames in order; false at the end. */
void excerpt_cursor_begin(struct excerpt_cursor *cursor, struct excerpt_index *index);
bool excerpt_cursor_next(struct excerpt_cursor *cursor, struct indexed_frame *frame);

/* The next note of the frame that was read last, and its connection; false if there are no more. */
bool excerpt_cursor_next_note(struct excerpt_cursor *cursor, uint32_t *connection, char text[RING_COMMENT_MAX]);

/* ---------------------------------------------------------------------------------------------- sets of connections */

/* A set of connections, by their numbers. */

/* One bit for each connection. */
struct excerpt_selection {
	uint8_t *bits;
	size_t size;	/* bytes */
	uint64_t count; /* connections */
};

static inline bool
excerpt_selection_has(const struct excerpt_selection *selection, uint32_t connection)
{
	return connection / 8 < selection->size && (selection->bits[connection / 8] >> connection % 8 & 1) != 0;
}

/* Adds a connection that the set does not have.  False if out of memory. */
static inline bool
excerpt_selection_add(struct excerpt_selection *selection, uint32_t connection)
{
	size_t at = connection / 8;

	if (at >= selection->size) {
		size_t size = (at + 1) * 3 / 2 + 4096;
		uint8_t *larger = realloc(selection->bits, size);

		if (larger == NULL)
			return false;
		memset(larger + selection->size, 0, size - selection->size);
		selection->bits = larger;
		selection->size = size;
	}
	selection->bits[at] |= (uint8_t)(1u << connection % 8);
	selection->count++;
	return true;
}

static inline void
excerpt_selection_remove(struct excerpt_selection *selection, uint32_t connection)
{
	selection->bits[connection / 8] &= (uint8_t) ~(1u << connection % 8);
	selection->count--;
}

/* ---------------------------------------------------------------------------------------------------- late comments */

/*
 * Late comments: those of firings that a timer has caused, between two frames.  Each belongs to the latest frame of its
 * connection before.
 */

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

/* ----------------------------------------------------------------------------------- comments of frames in the ring */

/* Late comments of frames that are still in the ring. */

struct excerpt_waiting;
struct waiting_comment;

/* NULL if out of memory. */
struct excerpt_waiting *excerpt_waiting_new(void);
void excerpt_waiting_free(struct excerpt_waiting *waiting);

/* Adds a comment to the frame at this position of the ring.  False if out of memory. */
bool excerpt_waiting_add(struct excerpt_waiting *waiting, uint64_t position, uint32_t connection, const char *text);

/* Removes the first comment of the frame; its text is copied to `text`, of `size` bytes.  False if it has no
 * comment. */
bool excerpt_waiting_take(struct excerpt_waiting *waiting, uint64_t position, uint32_t *connection, char *text,
			  unsigned size);

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

#endif
