/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_overview.h"

#include <netinet/in.h>
#include <string.h>

/* A connection counts in each interval from that of `from` to that of `to`. */
static void
report_states_span(int64_t *bins, size_t from, size_t to)
{
	bins[from]++;
	bins[to + 1]--;
}

static void
report_states_add(const struct report_capture *capture, const struct report_record *record,
		  struct report_states *states)
{
	const struct report_volume *volume = &capture->volume;
	size_t start = report_volume_bin(volume, record->start), end = report_volume_bin(volume, record->end);
	size_t open = start;

	if (end < start)
		end = start;
	if ((record->reason >= REPORT_REFUSED && record->reason <= REPORT_NO_ANSWER) ||
	    report_record_is_attempt(record)) {
		report_states_span(states->opening, start, end);
	} else {
		if (record->handshake_us > 0)
			open = report_volume_bin(volume, record->start + (uint64_t)record->handshake_us * 1000);
		if (open > start)
			report_states_span(states->opening, start, open - 1);
		if (open <= end)
			report_states_span(states->open, open, end);
	}
	if (record->reason == REPORT_FIN)
		states->closed[end]++;
	else if (record->reason <= REPORT_NO_ANSWER)
		states->failed[end]++;
}

void
report_overview_states(const struct report_capture *capture, struct report_states *states)
{
	memset(states, 0, sizeof(*states));
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].protocol == IPPROTO_TCP)
			report_states_add(capture, &capture->records.list[i], states);
	}
	for (size_t i = 1; i < REPORT_BINS; i++) {
		states->opening[i] += states->opening[i - 1];
		states->open[i] += states->open[i - 1];
	}
}
