/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_overview.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static int
report_talker_by_address(const void *a, const void *b)
{
	const struct report_talker *x = a, *y = b;

	return strcmp(x->address, y->address);
}

static int
report_talker_by_bytes(const void *a, const void *b)
{
	const struct report_talker *x = a, *y = b;
	uint64_t x_bytes = x->sent + x->received, y_bytes = y->sent + y->received;

	if (x_bytes != y_bytes)
		return x_bytes > y_bytes ? -1 : 1;
	return strcmp(x->address, y->address);
}

/* One entry for each end of each record. */
static void
report_talkers_fill(const struct report_records *records, struct report_talker *list)
{
	for (size_t i = 0; i < records->count; i++) {
		const struct report_end *ends = records->list[i].ends;

		for (size_t e = 0; e < REPORT_ENDS; e++) {
			list[2 * i + e].address = ends[e].address;
			list[2 * i + e].sent = ends[e].bytes;
			list[2 * i + e].received = ends[1 - e].bytes;
			list[2 * i + e].connections = 1;
		}
	}
}

/* Adds up the neighbours with the same address of a sorted list; how many remain. */
static size_t
report_talkers_merge(struct report_talker *list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 1; i < count; i++) {
		if (strcmp(list[kept].address, list[i].address) == 0) {
			list[kept].sent += list[i].sent;
			list[kept].received += list[i].received;
			list[kept].connections += list[i].connections;
		} else {
			list[++kept] = list[i];
		}
	}
	return count > 0 ? kept + 1 : 0;
}

size_t
report_overview_talkers(const struct report_capture *capture, struct report_talker *talkers, bool *all)
{
	size_t count = 2 * capture->records.count;
	struct report_talker *list = calloc(count + 1, sizeof(*list));

	*all = list != NULL;
	if (list == NULL)
		return 0;
	report_talkers_fill(&capture->records, list);
	qsort(list, count, sizeof(*list), report_talker_by_address);
	count = report_talkers_merge(list, count);
	qsort(list, count, sizeof(*list), report_talker_by_bytes);
	if (count > REPORT_TALKERS)
		count = REPORT_TALKERS;
	memcpy(talkers, list, count * sizeof(*list));
	free(list);
	return count;
}

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
	if (record->reason == REPORT_NO_ANSWER || record->reason == REPORT_REFUSED ||
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
