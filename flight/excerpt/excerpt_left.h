/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that have left the ring unwritten, of each connection that may match later.  Memory is bounded: if there are
 * too many connections, the counts of the oldest are dropped.
 */
#ifndef NETOBS_FLIGHT_EXCERPT_EXCERPT_LEFT_H
#define NETOBS_FLIGHT_EXCERPT_EXCERPT_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
