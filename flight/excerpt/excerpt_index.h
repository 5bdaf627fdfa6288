/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Index of the frames of a replay, for its second pass: of each frame its connections, direction and packet id, and
 * the notes of what happened at it.  A frame of one connection takes four bytes.
 *
 * A connection has a number, from 1: the rank of its connection ids (flow_cid()).
 */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_INDEX_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/event_note.h"
#include "flight/excerpt/spool.h"

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

/* Adds a connection to an earlier frame, in its first free place.  No effect if there is none, or if the frame is no
 * longer in memory. */
void excerpt_index_resolve(struct excerpt_index *index, uint64_t frame, uint32_t connection);

/* Adds a note to the frame that will be appended next. */
bool excerpt_index_add_note(struct excerpt_index *index, uint32_t connection, unsigned endpoint,
			    const struct event_note *note);
bool excerpt_index_add_text(struct excerpt_index *index, uint32_t connection, const char *text);

/* The functions that read set `error` on failure. */

/* The number of connection `i` of a frame, from 0; 0 behind the last one. */
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

#endif
