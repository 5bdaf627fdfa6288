/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/batch_times.h"

/* Makes `part` the present one: empties it and those skipped since the last one. */
static void
batch_times_advance(struct batch_times *times, uint64_t part)
{
	if (part - times->part > BATCH_TIMES_PARTS)
		times->part = part - BATCH_TIMES_PARTS;
	while (times->part < part)
		times->parts[++times->part % BATCH_TIMES_PARTS] = (struct batch_histograms){0};
}

void
batch_times_add(struct batch_times *times, uint64_t begin, uint64_t end, uint64_t lag_ns)
{
	struct batch_histograms *part;

	if (end / BATCH_TIMES_PART_NS != times->part)
		batch_times_advance(times, end / BATCH_TIMES_PART_NS);
	part = &times->parts[times->part % BATCH_TIMES_PARTS];
	time_histogram_add(&times->all.duration, end - begin);
	time_histogram_add(&part->duration, end - begin);
	if (lag_ns == UINT64_MAX)
		return;
	time_histogram_add(&times->all.lag, lag_ns);
	time_histogram_add(&part->lag, lag_ns);
}

void
batch_histograms_merge(struct batch_histograms *to, const struct batch_histograms *from)
{
	time_histogram_merge(&to->lag, &from->lag);
	time_histogram_merge(&to->duration, &from->duration);
}

void
batch_times_add_minute(const struct batch_times *times, uint64_t now, struct batch_histograms *sum)
{
	uint64_t present = now / BATCH_TIMES_PART_NS;

	for (unsigned age = 0; age < BATCH_TIMES_PARTS && age <= times->part; age++)
		if (times->part - age + BATCH_TIMES_PARTS > present)
			batch_histograms_merge(sum, &times->parts[(times->part - age) % BATCH_TIMES_PARTS]);
}

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
