/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define PROGRESS_DELAY_NS    1000000000u /* shorter operations show nothing */
#define PROGRESS_INTERVAL_NS 200000000u

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

void
progress_draw(struct progress *progress, uint64_t frames, uint64_t done, uint64_t total)
{
	uint64_t now = clock_monotonic_ns();
	double seconds = (double)(now - progress->last_ns) / 1e9;
	double rate = seconds > 0 ? (double)(frames - progress->last_frames) / seconds : 0;
	char text[128], percent[16] = "";

	if (total > 0)
		snprintf(percent, sizeof percent, "%u %%, ",
			 done < total ? (unsigned)(100.0 * (double)done / (double)total) : 100);
	snprintf(text, sizeof text, "netobsd: %s%llu frames, %.2f million frames/s", percent,
		 (unsigned long long)frames, rate / 1e6);
	log_show_status(text);
	progress->last_ns = now;
	progress->last_frames = frames;
	progress->next_ns = now + PROGRESS_INTERVAL_NS;
}

void
progress_hide(struct progress *progress)
{
	if (progress->enabled)
		log_clear_status();
	progress->next_ns = clock_monotonic_ns() + PROGRESS_INTERVAL_NS;
}
