/* SPDX-License-Identifier: BSD-2-Clause */
/* The comments of a frame that is written. */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_COMMENTS_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/event_note.h"

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

/* Room for a comment behind the last one, which becomes one when `count` is increased; NULL if out of memory.  After
 * EXCERPT_COMMENTS_MAX the room is that of a comment that is not kept. */
struct excerpt_comment *excerpt_comments_reserve(struct excerpt_comments *comments);

void excerpt_comments_free(struct excerpt_comments *comments);

#endif
