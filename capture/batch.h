/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What captured frames are handed to, in batches.  The observer is one (observe/observer_sink.h); capture knows no more
 * of it than these functions.  All of them are called by the thread that reads the input.
 */
#ifndef NETOBS_CAPTURE_BATCH_H
#define NETOBS_CAPTURE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/frame.h"

/* Most frames per call; several at once, so that the memory latencies of their lookups overlap.  512 instead of 128
 * save 2 % of the instructions of a replay. */
#define FRAME_SINK_FRAMES_MAX 512u

struct frame_sink;
struct host_clock;

struct frame_sink_ops {
	/* Takes frames in order; `count` is 1 to FRAME_SINK_FRAMES_MAX.  Their memory may be reused on return. */
	void (*take)(struct frame_sink *sink, const struct frame *frames, unsigned count);
	/* The next frame may be far: frames that wait for it to be understood are taken as they are. */
	void (*take_held)(struct frame_sink *sink);
	/* Makes the memory of the first `flows` connections present, before the first frame. */
	void (*populate_flows)(struct frame_sink *sink, uint32_t flows);
	/* Drops all connections: frames between those taken so far and the next are missing. */
	void (*clear_flows)(struct frame_sink *sink);
	/* Live: advances packet time to `now` (ns since the epoch) while no frames arrive. */
	void (*advance_clock)(struct frame_sink *sink, uint64_t now);
	/* Live: reads the host's clock, now and whenever frames are taken: time stamps of frames that have been read
	 * are not later.  `clock` is borrowed. */
	void (*read_host_clock)(struct frame_sink *sink, struct host_clock *clock);
	/* While no frames are read: notices tracers that attach and detach. */
	void (*poll_tracers)(struct frame_sink *sink);
	/* Whether further frames have no effect. */
	bool (*is_complete)(const struct frame_sink *sink);
	/* Writes out what was printed and recorded.  False if that has failed and continuing is pointless. */
	bool (*flush_output)(struct frame_sink *sink);
	/* Whether output waits because it is not read; lines dropped for that reason. */
	bool (*has_output)(const struct frame_sink *sink);
	uint64_t (*output_dropped)(const struct frame_sink *sink);
	/* Stops printing; other tracers are not affected. */
	void (*stop_printing)(struct frame_sink *sink);
};

struct frame_sink {
	const struct frame_sink_ops *ops;
};

/* ------------------------------------------------------------------------------------------------------------ batch */

/*
 * Collects single frames into batches.  libpcap lends a frame for the duration of a callback; a batch copies frames
 * next to each other into its own memory and passes BATCH_FRAMES of them to the sink at once, so that the latencies of
 * their flow lookups overlap.  A frame too large to copy is passed in place, after the frames before it.
 */

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
