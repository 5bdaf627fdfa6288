/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects single frames into batches.  libpcap lends a frame for the duration of a callback; a batch copies frames
 * next to each other into its own memory and passes BATCH_FRAMES of them to the observer at once, so that the
 * latencies of their flow lookups overlap.  A frame too large to copy is observed in place, after the frames before
 * it.
 */
#ifndef NETOBS_OBSERVE_BATCH_H
#define NETOBS_OBSERVE_BATCH_H

#include <stdbool.h>

#include "observe/observer.h"
#include "dissect/frame.h"

/* Larger frames are not copied. */
#define BATCH_COPY_MAX 2048u

/* Frames that are copied for one call of the observer, or taken from the kernel's ring for it.  With 512, frames in
 * the ring cost 1 to 11 % more. */
#define BATCH_FRAMES 128u

struct batch;
struct host_clock;

/* `observer` and `printer` (NULL: none) are borrowed.  NULL if out of memory. */
struct batch *batch_new(struct observer *observer, struct printer *printer);
void batch_free(struct batch *batch);

/* The caller fills the frame at batch_next_frame(), then calls batch_commit_frame().  The frame's bytes may be reused
 * on return; its interface must stay valid until the next batch_flush().  Filling in place avoids copying a struct
 * right after its fields were written, which waits for the stores (11 ns a frame instead of 17). */
struct frame *batch_next_frame(struct batch *batch);
void batch_commit_frame(struct batch *batch);

/* Observes the frames taken so far, then these: at most OBSERVE_FRAMES_MAX frames whose memory is valid for the whole
 * call. */
void batch_observe_in_place(struct batch *batch, const struct frame *frames, unsigned count);

/* Observes the frames taken so far. */
void batch_flush(struct batch *batch);

/* Like batch_flush(), when no more input is pending; also flushes the printer.  False if the output has failed
 * (printer_error() has the error) and continuing is pointless. */
bool batch_flush_output(struct batch *batch);

/* Before the first frame: see observer_populate_flows(). */
void batch_populate_flows(struct batch *batch, uint32_t flows);

/* Whether output waits because it is not read; lines dropped for that reason. */
bool batch_has_output(const struct batch *batch);
uint64_t batch_output_dropped(const struct batch *batch);

/* Whether further frames have no effect: see observer_is_complete(). */
bool batch_is_complete(const struct batch *batch);

/* Stops printing; other tracers are not affected. */
void batch_stop_printing(struct batch *batch);

/* Observes the frames taken so far, then drops all connections. */
void batch_clear_flows(struct batch *batch);

/* Advances packet time to `now` (ns since the epoch) while no frames arrive. */
void batch_advance_clock(struct batch *batch, uint64_t now);

/* While capture is suspended: notices tracers that attach and detach. */
void batch_poll_tracers(struct batch *batch);

/* Live: observes the frames taken so far, then reads the host's clock; see observer_read_host_clock(). */
void batch_read_host_clock(struct batch *batch, struct host_clock *clock);

/* Observes all frames taken so far, because the next one may be far. */
void batch_flush_held(struct batch *batch);

#endif
