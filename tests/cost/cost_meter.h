/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures what each frame of a sequence costs in observe_frames(), in ns of processor time.
 *
 * A sequence runs several times from an empty flow table, and the smallest time of each frame counts: interruptions and
 * other programs only add time, and not to the same frame each time.  The result is the largest mean of COST_WINDOW
 * consecutive frames, as many as a stream may queue: work that one frame does for those before it, such as delivering
 * what they queued, counts for all of them.
 *
 * A single frame has no limit of 10 us, because one call of flow_table_run_timers() has no bound: it runs every
 * timer that is due, and distributes the flows of a tick and of a lap.  2,048 UDP flows that expire together
 * (udp-expiry of cost_known.c) take 0.11 ms untraced and 0.21 ms traced in one frame. For each of these flows a frame
 * has arrived, and a share of 0.1 us belongs to that frame. A budget for each call would bound neither a replay,
 * whose timers must fire in the order of their deadlines, nor a live capture: the packet of an overdue flow has to
 * wait for all earlier timers, so that its flow ends before another one begins with the same addresses.
 */
#ifndef NETOBS_TESTS_COST_COST_METER_H
#define NETOBS_TESTS_COST_COST_METER_H

#include "tests/cost/cost_frames.h"

enum { COST_WINDOW = 128 };

struct cost_meter;
struct observer;

struct cost_result {
	double worst_ns;   /* largest mean of a window, per frame */
	double single_ns;  /* largest time of one frame */
	unsigned at;	   /* first frame of the window with the largest mean */
};

/* `traced`: every probe is enabled.  Exits on failure. */
struct cost_meter *cost_meter_new(bool traced);
void cost_meter_free(struct cost_meter *meter);

/* Called after the flow table was emptied, before the frames of every run: state that the frames need. */
typedef void cost_prepare(struct observer *observer, uint64_t *now);

/* Measures the sequence `runs` times. */
struct cost_result cost_meter_measure(struct cost_meter *meter, const struct cost_frame *frames, unsigned count,
				      unsigned runs, cost_prepare *prepare);

/* Runs the sequence `runs` times, and as often again up to 39 times while it costs more than `limit` ns (0: never): the
 * result of all runs.  Other programs only make a run longer, and their load may pass. */
struct cost_result cost_meter_confirm(struct cost_meter *meter, const struct cost_frame *frames, unsigned count,
				      unsigned runs, cost_prepare *prepare, double limit);

/* How many times longer this machine takes for a fixed piece of work than the one for which the limit is: 1 to 4. */
double cost_meter_slowness(void);

/* Passes one frame to the observer. */
void cost_observe(struct observer *observer, const uint8_t *bytes, unsigned len, uint64_t now);

#endif
