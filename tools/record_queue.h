/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers of netobsctl record: firings that have a connection.  Each waits in a bounded queue until its file is due;
 * triggers of a connection that waits already are merged with it.
 */
#ifndef NETOBS_TOOLS_RECORD_QUEUE_H
#define NETOBS_TOOLS_RECORD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most triggers that wait; most bytes of the name of a probe or formula, with its NUL. */
#define RECORD_QUEUE_MAX   4096u
#define RECORD_TRIGGER_MAX 65u

struct record_trigger {
	char name[RECORD_TRIGGER_MAX]; /* of the probe or formula: letters, digits and hyphens */
	uint64_t cid;		       /* 0: the firing has no connection */
	uint64_t ts;		       /* packet time, ns since the epoch */
	uint64_t due;		       /* monotonic time of its file, ns */
};

enum record_line {
	RECORD_TRIGGER,
	RECORD_LOST, /* netobsd has dropped lines */
	RECORD_END,  /* netobsd has ended the feed */
	RECORD_WRONG,
};

/* Parses a line of the feed, without its newline.  Sets `trigger` except for `due`, or `lost`. */
enum record_line record_line_parse(const char *line, struct record_trigger *trigger, uint64_t *lost);

struct record_queue {
	size_t first, count;
	uint64_t connections[RECORD_QUEUE_MAX]; /* by place: 0 if the place is free */
	struct record_trigger triggers[RECORD_QUEUE_MAX];
};

/* Whether a trigger of this connection waits. */
bool record_queue_has(const struct record_queue *queue, uint64_t cid);

/* Adds a trigger, whose time is not before that of the last one.  False if the queue is full. */
bool record_queue_add(struct record_queue *queue, const struct record_trigger *trigger);

/* The trigger that is due first, NULL if none waits. */
const struct record_trigger *record_queue_first(const struct record_queue *queue);
void record_queue_remove_first(struct record_queue *queue);

#endif
