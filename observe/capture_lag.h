/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live: how far observation is behind the traffic.  The lag of a frame is the host's clock when it was read from the
 * kernel less its time stamp.  It is measured for the first frame of each batch, the oldest one; the result is the
 * largest lag of the last 15 to 30 seconds, so that a scrape every 15 seconds misses none.
 */
#ifndef NETOBS_OBSERVE_CAPTURE_LAG_H
#define NETOBS_OBSERVE_CAPTURE_LAG_H

#include <stdint.h>

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
