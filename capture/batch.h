/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects single frames into batches.  libpcap lends a frame for the duration of a callback; a batch copies frames
 * next to each other into its own memory and passes BATCH_FRAMES of them to the sink at once, so that the latencies of
 * their flow lookups overlap.  A frame too large to copy is passed in place, after the frames before it.
 */
#ifndef NETOBS_CAPTURE_BATCH_H
#define NETOBS_CAPTURE_BATCH_H

#include <stdbool.h>

#include "capture/frame_sink.h"
#include "dissect/frame.h"

/* Larger frames are not copied. */
#define BATCH_COPY_MAX 2048u

/* Frames that are copied for one call of the sink, or taken from the kernel's ring for it.  With 512, frames in the
 * ring cost 1 to 11 % more. */
#define BATCH_FRAMES 128u

struct batch;

/* `sink` is borrowed.  NULL if out of memory. */
struct batch *batch_new(struct frame_sink *sink);
void batch_free(struct batch *batch);

/* The sink, for what concerns no frame that the batch has. */
struct frame_sink *batch_sink(const struct batch *batch);

/* The caller fills the frame at batch_next_frame(), then calls batch_commit_frame().  The frame's bytes may be reused
 * on return; its interface must stay valid until the next batch_flush().  Filling in place avoids copying a struct
 * right after its fields were written, which waits for the stores (11 ns a frame instead of 17). */
struct frame *batch_next_frame(struct batch *batch);
void batch_commit_frame(struct batch *batch);

/* Passes on the frames taken so far, then these: at most FRAME_SINK_FRAMES_MAX frames whose memory is valid for the
 * whole call. */
void batch_take_in_place(struct batch *batch, const struct frame *frames, unsigned count);

/* Passes on the frames taken so far.  The others do that first, then call the function of the sink. */
void batch_flush(struct batch *batch);
bool batch_flush_output(struct batch *batch);
void batch_clear_flows(struct batch *batch);
void batch_advance_clock(struct batch *batch, uint64_t now);
void batch_read_host_clock(struct batch *batch, struct host_clock *clock);
void batch_flush_held(struct batch *batch);

#endif
