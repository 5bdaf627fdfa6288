/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about connections that end badly, or do not end. */
#include <inttypes.h>
#include <netinet/in.h>

#include "tools/report/report_findings.h"

/* A half-closed connection that has lasted so long, us, when the capture ends is a leak. */
#define HALF_CLOSED_US 1500000u

/* A connection without packets for so long, us, is idle. */
#define IDLE_US 500000u

/* Segments as large as this do not pass a link with a smaller MTU. */
#define LARGE_SEGMENT 900u

/* ------------------------------------------------------------------------------------------------------ silent paths */

/* Whether an end sends a large segment again and again, larger than any that arrived. */
static bool
report_is_stuck_large(const struct report_record *record, unsigned e)
{
	const struct report_end *end = &record->ends[e];
	const struct report_end_trouble *trouble = report_trouble(end);

	return end->unacknowledged != 0 && trouble->repeats.count >= 3 && trouble->stuck_length >= LARGE_SEGMENT &&
	       trouble->stuck_length > end->events.length_acked && record->ends[1 - e].zero_windows == 0 &&
	       record->ends[1 - e].segments > 1;
}

bool
report_is_mtu(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP &&
	       ((record->silence.packet != 0 && record->silence.too_big != 0) ||
		report_is_stuck_large(record, REPORT_CLIENT) || report_is_stuck_large(record, REPORT_SERVER));
}

static uint64_t
report_measure_mtu(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_is_mtu(record) ? record->waits.lost[0] + record->waits.lost[1] + 1 : 0;
}

static uint64_t
report_measure_silent(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->silence.packet != 0 && !report_is_mtu(record) ? record->silence.us + 1 : 0;
}

static void
report_link_silence(struct report_finding *finding, const struct report_facts *facts)
{
	for (size_t e = 0; e < finding->evidence_count; e++)
		report_set_packet(&finding->evidence[e], facts->list[finding->evidence[e].record].silence.packet);
}

void
report_find_mtu(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_mtu, REPORT_EVENTS);
	const struct report_end *end;
	unsigned e;

	if (found.count == 0)
		return;
	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct report_record *record = &facts->list[finding->evidence[i].record];

		report_set_packet(&finding->evidence[i],
				  report_trouble(&record->ends[report_is_stuck_large(record, REPORT_SERVER)])->repeats.packet);
	}
	e = report_is_stuck_large(found.worst, REPORT_SERVER) ? REPORT_SERVER : REPORT_CLIENT;
	end = &found.worst->ends[e];
	finding->count = found.count;
	finding->waited_us = found.sum;
	finding->cost_us = found.sum + found.count * REPORT_FAILURE_US;
	report_write(finding, "MTU black hole: on %" PRIu64 " connection%s with ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " large segments of the %s (%u bytes) never arrive and small ones do; %s",
		     e == REPORT_CLIENT ? "client" : "server", report_trouble(end)->stuck_length,
		     found.worst->silence.too_big != 0 ?
			     "an ICMP error says that they are too big for the path, and the sender does not heed it." :
			     "no ICMP error says that they are too big for the path.");
}

/* The time, us, for which a connection was idle before it fell silent. */
static uint64_t
report_idle_before(const struct report_record *record)
{
	uint64_t program = record->waits.program[REPORT_CLIENT];

	return program >= IDLE_US ? program : 0;
}

void
report_find_silent(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_silent, REPORT_EVENTS);
	const struct report_record *worst = found.worst;
	const struct report_rejection *rejection;

	if (found.count == 0)
		return;
	report_link_silence(finding, facts);
	finding->count = found.count;
	finding->waited_us = found.sum;
	finding->cost_us = found.sum + found.count * REPORT_FAILURE_US;
	rejection = &report_trouble(&worst->ends[worst->silence.end])->rejection;
	report_write(finding, "The path died: %" PRIu64 " connection%s fell silent; the %s %s port %u answered none of %" PRIu64
		     " retransmissions in ", found.count, report_plural(found.count),
		     worst->silence.end == REPORT_CLIENT ? "server" : "client",
		     worst->ends[1 - worst->silence.end].address, worst->ends[1 - worst->silence.end].port,
		     worst->silence.repeats);
	report_write_time(finding, worst->silence.us);
	if (rejection->version != 0) {
		report_write(finding, "; an ICMP error says \"%s\", sent by ", report_rejection_words(rejection));
		report_write_sender(finding, rejection);
	} else if (report_idle_before(worst) != 0) {
		report_write(finding, ", after it was idle for ");
		report_write_time(finding, report_idle_before(worst));
		report_write(finding, ": a NAT or firewall between has perhaps forgotten the connection");
	}
	report_write(finding, ".");
}

/* --------------------------------------------------------------------------------------------------- gave up, resets */

/* A request without any answer when an end closed, or the capture ended. */
static uint64_t
report_measure_unanswered(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->open_request.packet != 0 && record->ends[REPORT_SERVER].zero_windows == 0 ?
		       1 + record->open_request.us : 0;
}

void
report_find_unanswered(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_unanswered, REPORT_EVENTS);
	const struct report_record *worst = found.worst;

	if (found.count == 0)
		return;
	for (size_t e = 0; e < finding->evidence_count; e++)
		report_set_packet(&finding->evidence[e], facts->list[finding->evidence[e].record].open_request.packet);
	finding->count = found.count;
	finding->waited_us = found.sum;
	finding->cost_us = found.sum + found.count * REPORT_FAILURE_US;
	report_write(finding, "Never answered: the server took %" PRIu64 " request%s to ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " and sent nothing; ");
	if (!worst->open_request.closed)
		report_write(finding, "the capture ended after ");
	else
		report_write(finding, "the %s gave up after ", worst->open_request.end == REPORT_SERVER ? "server" : "client");
	report_write_time(finding, worst->open_request.us);
	report_write(finding, ".");
}

/* A client that closes in the middle of an answer.  One that closes right behind its request, such as a notification,
 * does not wait for any. */
static uint64_t
report_is_given_up(const struct report_facts *facts, const struct report_record *record)
{
	bool waited = record->unanswered_us < 0 || record->unanswered_us >= REPORT_SLOW_ANSWER_US;

	(void)facts;
	return waited && record->protocol == IPPROTO_TCP && record->closed_by == REPORT_CLIENT && record->cut &&
	       record->reason == REPORT_RESET_CLIENT && record->open_request.packet == 0 ? 1 + record->duration_us : 0;
}

void
report_find_gave_up(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_given_up, REPORT_RESET);

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->waited_us = found.sum;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "The client gave up: %" PRIu64 " connection%s to ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " %s closed by the client in the middle of an answer, the longest after ",
		     found.count == 1 ? "was" : "were");
	report_write_time(finding, found.max);
	report_write(finding, ".");
}

/* A server that resets in the middle of an exchange. */
static uint64_t
report_is_reset(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return record->protocol == IPPROTO_TCP && record->reason == REPORT_RESET_SERVER &&
	       record->closed_by == REPORT_SERVER && record->opened ? 1 : 0;
}

void
report_find_reset(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_is_reset, REPORT_RESET);

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "The server reset %" PRIu64 " connection%s at ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " %s: its program failed or closed without reading, or a firewall did.",
		     found.worst->ends[REPORT_SERVER].bytes > 0 ? "in the middle of an answer" : "instead of an answer");
}

/* ---------------------------------------------------------------------------------------------------------- half-closed */

/* How long the end that got a FIN has not closed, us, if it does not until the capture ends. */
static uint64_t
report_measure_half_closed(const struct report_facts *facts, const struct report_record *record, unsigned end)
{
	uint64_t finish = record->ends[1 - end].events.finish_time, last = facts->capture->volume.last;
	uint64_t us = finish != 0 && last > finish ? (last - finish) / 1000 : 0;

	return record->protocol == IPPROTO_TCP && record->close_wait[end] && us >= HALF_CLOSED_US &&
	       record->silence.packet == 0 ? us : 0;
}

static uint64_t
report_measure_half_closed_server(const struct report_facts *facts, const struct report_record *record)
{
	return report_measure_half_closed(facts, record, REPORT_SERVER);
}

void
report_find_half_closed(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_half_closed_server, REPORT_EVENTS);

	if (found.count < 2)
		return;
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "The server does not close: %" PRIu64 " connection%s to ", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " stay half-closed (CLOSE_WAIT); the client has sent its FIN, for the longest ");
	report_write_time(finding, found.max);
	report_write(finding, " before the capture ends, and the program of the server leaks them.");
}
