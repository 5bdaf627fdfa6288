/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/capture_lag.h"

void
capture_lag_advance(struct capture_lag *lag, uint64_t now)
{
	uint64_t elapsed = now - lag->window_begin;

	if (elapsed < CAPTURE_LAG_WINDOW_NS)
		return;
	lag->largest[1] = elapsed < 2ull * CAPTURE_LAG_WINDOW_NS ? lag->largest[0] : 0;
	lag->largest[0] = 0;
	lag->window_begin = now;
}

void
capture_lag_step(struct capture_lag *lag, uint64_t now)
{
	lag->valid_from = lag->window_begin = now;
}

uint64_t
capture_lag_us(const struct capture_lag *lag)
{
	return (lag->largest[0] > lag->largest[1] ? lag->largest[0] : lag->largest[1]) / 1000;
}
