/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded queue of lines between one thread that adds them and one that removes bytes.  Neither waits for the other:
 * no lock is taken.  A line that does not fit is dropped and counted, and where the gap is the queue has a line with
 * the number of dropped lines.
 */
#ifndef NETOBS_PROBES_FEED_FEED_QUEUE_H
#define NETOBS_PROBES_FEED_FEED_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed_queue {
	char *bytes;
	size_t size;		  /* a power of 2 */
	uint64_t gap;		  /* adding thread: lines dropped since the last line that was added */
	size_t known_removed;	  /* adding thread: `removed` when it was last read */
	_Atomic uint64_t lines;	  /* lines to be added, those that were dropped included */
	_Atomic uint64_t dropped; /* lines that did not fit */
	/* Positions, modulo the size of their type; each is written by one thread. */
	_Alignas(64) _Atomic size_t added;
	_Alignas(64) _Atomic size_t removed;
};

/* `size`: bytes, a power of 2.  False with errno if out of memory. */
bool feed_queue_open(struct feed_queue *queue, size_t size);
void feed_queue_close(struct feed_queue *queue);

/* Adds a line, in front of it the line for the gap if there is one, or drops it.  After a gap lines are added again
 * when a quarter of the queue is free, so that a slow reader gets few gaps. */
void feed_queue_add(struct feed_queue *queue, const char *line, size_t length);

/* Adding thread: drops a line if there is a gap that cannot end yet, so that the line need not be made.  False if
 * feed_queue_add() must be called. */
bool feed_queue_drop(struct feed_queue *queue);

/* Adding thread: adds the line for a gap, if there is one and it fits.  False if the gap remains. */
bool feed_queue_end_gap(struct feed_queue *queue);

/* The bytes that are in the queue now. */
size_t feed_queue_used(const struct feed_queue *queue);

/* The oldest bytes: returns how many lie in one piece at `*bytes`; 0 if the queue is empty. */
size_t feed_queue_peek(const struct feed_queue *queue, const char **bytes);
void feed_queue_remove(struct feed_queue *queue, size_t count);

#endif
