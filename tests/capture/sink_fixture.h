/* SPDX-License-Identifier: BSD-2-Clause */
/* A sink of captured frames for tests: the test gives the function that takes frames, the others have no effect. */
#ifndef NETOBS_TESTS_CAPTURE_SINK_FIXTURE_H
#define NETOBS_TESTS_CAPTURE_SINK_FIXTURE_H

#include "capture/batch.h"

static void
sink_ignore(struct frame_sink *sink)
{
	(void)sink;
}

static void
sink_ignore_flows(struct frame_sink *sink, uint32_t flows)
{
	(void)sink;
	(void)flows;
}

static void
sink_ignore_time(struct frame_sink *sink, uint64_t now)
{
	(void)sink;
	(void)now;
}

static void
sink_ignore_clock(struct frame_sink *sink, struct host_clock *clock)
{
	(void)sink;
	(void)clock;
}

static bool
sink_never(const struct frame_sink *sink)
{
	(void)sink;
	return false;
}

static bool
sink_succeeds(struct frame_sink *sink)
{
	(void)sink;
	return true;
}

static uint64_t
sink_has_none(const struct frame_sink *sink)
{
	(void)sink;
	return 0;
}

/* The functions of a sink whose frames `take_frames` takes; a test may replace others. */
static struct frame_sink_ops
sink_ops(void (*take_frames)(struct frame_sink *sink, const struct frame *frames, unsigned count))
{
	return (struct frame_sink_ops){
	    .take = take_frames,
	    .take_held = sink_ignore,
	    .populate_flows = sink_ignore_flows,
	    .clear_flows = sink_ignore,
	    .advance_clock = sink_ignore_time,
	    .read_host_clock = sink_ignore_clock,
	    .poll_tracers = sink_ignore,
	    .is_complete = sink_never,
	    .flush_output = sink_succeeds,
	    .has_output = sink_never,
	    .output_dropped = sink_has_none,
	    .stop_printing = sink_ignore,
	};
}

#endif
