/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define PROGRESS_DELAY_NS    1000000000u /* shorter operations show nothing */
#define PROGRESS_INTERVAL_NS 200000000u
#define PROGRESS_RATE_NS     1000000000u /* shortest time of which the rate is measured */

/* To the first column, and erases the line (ECMA-48). */
static const char erase[] = "\r\033[K";

static atomic_bool shown; /* the last line of the terminal is that of progress_draw() */

void
progress_begin(struct progress *progress, bool prints)
{
	const char *terminal = getenv("TERM");
	uint64_t now = clock_monotonic_ns();

	*progress = (struct progress){.last_ns = now, .next_ns = now + PROGRESS_DELAY_NS};
	if (terminal == NULL || strcmp(terminal, "dumb") == 0 || isatty(STDERR_FILENO) == 0)
		return;
	progress->shares_terminal = isatty(STDOUT_FILENO) != 0;
	progress->enabled = !prints || !progress->shares_terminal;
}

bool
progress_is_due(const struct progress *progress)
{
	return progress->enabled && clock_monotonic_ns() >= progress->next_ns;
}

uint64_t
progress_wait(const struct progress *progress, uint64_t limit_ns)
{
	uint64_t now = clock_monotonic_ns(), wait_ns = progress->next_ns > now ? progress->next_ns - now : 0;

	return progress->enabled && wait_ns < limit_ns ? wait_ns : limit_ns;
}

/* Formats a rate of frames per second with two or more digits: in frames, thousand or million frames. */
static void
progress_format_rate(char *text, size_t size, double rate)
{
	if (rate < 9.95)
		snprintf(text, size, "%.1f", rate);
	else if (rate < 999.5)
		snprintf(text, size, "%.0f", rate);
	else if (rate < 999950)
		snprintf(text, size, "%.1f thousand", rate / 1e3);
	else
		snprintf(text, size, "%.2f million", rate / 1e6);
}

static void
progress_measure_rate(struct progress *progress, uint64_t now, uint64_t frames)
{
	if (now < progress->last_ns + PROGRESS_RATE_NS)
		return;
	progress->rate = (double)(frames - progress->last_frames) * 1e9 / (double)(now - progress->last_ns);
	progress->last_ns = now;
	progress->last_frames = frames;
}

void
progress_draw(struct progress *progress, uint64_t frames, uint64_t done, uint64_t total)
{
	uint64_t now = clock_monotonic_ns();
	char text[160], percent[16] = "", rate[32];
	int length;

	progress_measure_rate(progress, now, frames);
	progress_format_rate(rate, sizeof rate, progress->rate);

	if (total > 0)
		snprintf(percent, sizeof percent, "%u %%, ",
			 done < total ? (unsigned)(100.0 * (double)done / (double)total) : 100);
	/* Without automatic wrapping, so that the line stays one line on a narrow terminal. */
	length = snprintf(text, sizeof text, "%s\033[?7l%.23s: %s%llu frames, %s frames/s\033[?7h", erase,
			  program_invocation_short_name, percent, (unsigned long long)frames, rate);
	if (output_write_within(output_fd(OUTPUT_STDERR), text, (size_t)length, 0) > 0)
		atomic_store_explicit(&shown, true, memory_order_relaxed);
	progress->next_ns = now + PROGRESS_INTERVAL_NS;
}

void
progress_hide(struct progress *progress)
{
	progress_erase();
	progress->next_ns = clock_monotonic_ns() + PROGRESS_INTERVAL_NS;
}

void
progress_erase(void)
{
	if (atomic_exchange_explicit(&shown, false, memory_order_relaxed))
		(void)output_write_within(output_fd(OUTPUT_STDERR), erase, sizeof erase - 1, 0);
}
