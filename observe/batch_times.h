/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live: how late observation is, and how long it takes.  For each batch, the frames of one call of observe_frames():
 * the lag is the host's clock when the batch is done less the time stamp of its oldest frame, the duration is the time
 * that the call took.  Histograms of all batches, and of those of the last minute.
 */
#ifndef NETOBS_OBSERVE_BATCH_TIMES_H
#define NETOBS_OBSERVE_BATCH_TIMES_H

#include <stdint.h>

#include "base/clock.h"

/* The last minute is the present part and the six before it: 60 to 70 seconds. */
#define BATCH_TIMES_PART_NS 10000000000u
#define BATCH_TIMES_PARTS   7u

struct batch_histograms {
	struct time_histogram lag, duration;
};

/* Initially zero. */
struct batch_times {
	struct batch_histograms all;
	struct batch_histograms parts[BATCH_TIMES_PARTS];
	uint64_t part; /* number of the present part, of CLOCK_MONOTONIC; its place is the remainder */
};

/* A batch is done.  `begin` and `end`: CLOCK_MONOTONIC, ns.  `lag_ns`: UINT64_MAX unknown, the clock was set. */
void batch_times_add(struct batch_times *times, uint64_t begin, uint64_t end, uint64_t lag_ns);

/* Adds the batches of the last minute to `sum`; `now` is CLOCK_MONOTONIC, ns. */
void batch_times_add_minute(const struct batch_times *times, uint64_t now, struct batch_histograms *sum);

void batch_histograms_merge(struct batch_histograms *to, const struct batch_histograms *from);

/*
 * Live: how far observation is behind the traffic.  The lag of a frame is the host's clock when it was read from the
 * kernel less its time stamp.  It is measured for the first frame of each batch, the oldest one; the result is the
 * largest lag of the last 15 to 30 seconds, so that a scrape every 15 seconds misses none.
 */

#define CAPTURE_LAG_WINDOW_NS 15000000000u

/* Initially zero.  Times are those of the host's clock, ns. */
struct capture_lag {
	uint64_t window_begin;
	uint64_t valid_from; /* latest step of the clock: stamps from before it cannot be compared with the clock */
	uint64_t largest[2]; /* of the present window and of the one before, ns */
};

/* Time has advanced to `now`.  Call it at least once per window, also while no frames arrive. */
void capture_lag_advance(struct capture_lag *lag, uint64_t now);

/* The clock was stepped, and is `now`. */
void capture_lag_step(struct capture_lag *lag, uint64_t now);

/* A frame with the time stamp `ts` was read at `now`. */
static inline void
capture_lag_add(struct capture_lag *lag, uint64_t now, uint64_t ts)
{
	if (ts < now && ts >= lag->valid_from && now - ts > lag->largest[0])
		lag->largest[0] = now - ts;
}

/* The largest lag, in microseconds. */
uint64_t capture_lag_us(const struct capture_lag *lag);

#endif
