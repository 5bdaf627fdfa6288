/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers of netobsctl write --on: firings with a connection.  Each waits in a bounded queue until its file is due;
 * triggers of a connection that waits already are merged with it.
 */
#ifndef NETOBS_TOOLS_WRITE_ON_QUEUE_H
#define NETOBS_TOOLS_WRITE_ON_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most triggers that wait; most bytes of the name of a probe or formula, with its NUL. */
#define WRITE_ON_QUEUE_MAX   4096u
#define WRITE_ON_TRIGGER_MAX 65u

struct write_on_trigger {
	char name[WRITE_ON_TRIGGER_MAX]; /* of the probe or formula: letters, digits and hyphens */
	uint64_t cid;			 /* 0: the firing has no connection */
	uint64_t ts;			 /* packet time, ns since the epoch */
	uint64_t due;			 /* monotonic time of its file, ns */
};

enum write_on_line {
	WRITE_ON_TRIGGER,
	WRITE_ON_LOST, /* netobsd has dropped lines */
	WRITE_ON_END,  /* netobsd has ended the feed */
	WRITE_ON_WRONG,
};

/* Parses a line of the feed, without its newline.  Sets `trigger` except for `due`, or `lost`. */
enum write_on_line write_on_line_parse(const char *line, struct write_on_trigger *trigger, uint64_t *lost);

struct write_on_queue {
	size_t first, count;
	uint64_t connections[WRITE_ON_QUEUE_MAX]; /* by place: 0 if the place is free */
	struct write_on_trigger triggers[WRITE_ON_QUEUE_MAX];
};

/* Whether a trigger of this connection waits. */
bool write_on_queue_has(const struct write_on_queue *queue, uint64_t cid);

/* Adds a trigger, whose time is not before that of the last one.  False if the queue is full. */
bool write_on_queue_add(struct write_on_queue *queue, const struct write_on_trigger *trigger);

/* The trigger that is due first, NULL if none waits. */
const struct write_on_trigger *write_on_queue_first(const struct write_on_queue *queue);
void write_on_queue_remove_first(struct write_on_queue *queue);

#endif
