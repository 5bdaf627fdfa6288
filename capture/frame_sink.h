/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What captured frames are handed to, in batches.  The observer is one (observe/observer_sink.h); capture knows no more
 * of it than these functions.  All of them are called by the thread that reads the input.
 */
#ifndef NETOBS_CAPTURE_FRAME_SINK_H
#define NETOBS_CAPTURE_FRAME_SINK_H

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

#endif
