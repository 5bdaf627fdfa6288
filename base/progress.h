/* SPDX-License-Identifier: BSD-2-Clause */
/* One line on a terminal that says how far a long operation is: drawn over itself, erased at the end and before each
 * logged line. */
#ifndef NETOBS_BASE_PROGRESS_H
#define NETOBS_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool enabled;	       /* standard error is a terminal that can erase a line */
	bool shares_terminal;  /* standard output is a terminal, too: other output would be mixed with the line */
	uint64_t next_ns;      /* monotonic time of the next drawing; the first is a second after the beginning */
	uint64_t last_ns;      /* time at which the rate was measured, or the beginning */
	uint64_t last_frames;  /* frames then */
	double rate;	       /* frames per second, up to then */
};

/* Begins.  `prints`: lines go to standard output meanwhile. */
void progress_begin(struct progress *progress, bool prints);

/* Whether it is time to draw.  Cheap: one test unless enabled. */
bool progress_is_due(const struct progress *progress);

/* Nanoseconds until the next drawing, at most `limit_ns`. */
uint64_t progress_wait(const struct progress *progress, uint64_t limit_ns);

/* Draws: `frames` so far, and `done` of `total` bytes; a total of 0 is unknown. */
void progress_draw(struct progress *progress, uint64_t frames, uint64_t done, uint64_t total);

/* Erases the line until the next drawing. */
void progress_hide(struct progress *progress);

/* Erases the line if one is shown: whatever else writes to standard error calls this first.  Any thread may call it. */
void progress_erase(void);

#endif
