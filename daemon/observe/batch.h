/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From frames one by one to frames by the batch.
 *
 * libpcap lends a frame for the duration of a callback.  A batch copies frames side by side into memory of its own and
 * hands OBSERVE_BATCH of them to the observer in one go, so that the latencies of their flow look-ups overlap.  A frame
 * too large to be worth a copy is observed where it lies, after those before it.
 */
#ifndef NETOBS_DAEMON_OBSERVE_BATCH_H
#define NETOBS_DAEMON_OBSERVE_BATCH_H

#include <stdbool.h>

#include "daemon/observe/observer.h"
#include "dissect/frame.h"

/* Larger frames are not copied. */
#define BATCH_COPY_MAX 2048u

struct batch;

/* `observer` and `printer` (NULL: none) are borrowed.  NULL if memory cannot be had. */
struct batch *batch_new(struct observer *observer, struct printer *printer);
void batch_free(struct batch *batch);

/* A frame is written where batch_slot() points, then batch_commit() takes it: its bytes may be reused on return, its
 * interface lives until the next batch_flush().  Filled in place because a copy of a struct that has just been written
 * field by field waits for the stores (17 ns a frame instead of 11). */
struct frame *batch_slot(struct batch *batch);
void batch_commit(struct batch *batch);

/* Observes what has been taken so far, then these: at most OBSERVE_BATCH frames whose bytes are all there at once. */
void batch_observe(struct batch *batch, const struct frame *frames, unsigned count);

/* Observes what has been taken so far. */
void batch_flush(struct batch *batch);

/* The same, for a moment when nothing more is to be read: what was printed goes out too.  False if nobody takes it any
 * more (printer_failed() says why), so that there is no use in going on. */
bool batch_settle(struct batch *batch);

/* Nothing more is printed; whoever else wants the probes still has them. */
void batch_stop_printing(struct batch *batch);

/* Observes what has been taken so far, and forgets every connection. */
void batch_forget(struct batch *batch);

/* Lets the clock go on to `now` (ns since the epoch) where no frame comes. */
void batch_advance(struct batch *batch, uint64_t now);

#endif
