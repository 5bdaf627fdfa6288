/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about connections that end badly, or do not end. */
#include <inttypes.h>
#include <netinet/in.h>

#include "tools/report/report_findings.h"

/* A half-closed connection that has lasted so long, us, when the capture ends is a leak. */
#define HALF_CLOSED_US 1500000u

/* A connection without packets for so long, us, is idle. */
#define IDLE_US 500000u

/* So long, us, a client has to wait for packets that do not arrive. */
#define LOST_LARGE_US 2000000u

/* Segments as large as this do not pass a link with a smaller MTU. */
#define LARGE_SEGMENT 900u

/* ----------------------------------------------------------------------------------------------------- silent paths */

/* Whether an end sends a large segment again and again, larger than any that arrived. */
static bool
report_is_stuck_large(const struct report_record *record, unsigned e)
{
	const struct report_end *end = &record->ends[e];
	const struct report_end_trouble *trouble = report_trouble(end);

	return end->unacknowledged != 0 && trouble->repeats_most >= 3 && trouble->stuck_length >= LARGE_SEGMENT &&
	       trouble->stuck_length > end->events.length_acked && record->ends[1 - e].zero_windows == 0 &&
	       record->ends[1 - e].segments > 1;
}

/* The largest payload of an end that was captured. */
static uint32_t
report_largest(const struct report_end *end)
{
	return end->events.length_acked > end->events.length_sent ? end->events.length_acked : end->events.length_sent;
}

/* Whether many packets of a server did not arrive at the capture, by their identifications, and only small ones did,
 * until the client gave up. */
static bool
report_is_lost_large(const struct report_record *record)
{
	const struct report_end *server = &record->ends[REPORT_SERVER];

	return server->events.idents_missing >= 3 && server->events.idents_odd == 0 && server->resent == 0 &&
	       report_largest(server) < LARGE_SEGMENT && server->events.idents_missing >= server->segments &&
	       record->closed_by == REPORT_CLIENT && record->patience_us >= LOST_LARGE_US;
}

bool
report_is_mtu(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP &&
	       (report_is_lost_large(record) || (record->silence.packet != 0 && record->silence.too_big != 0) ||
		report_is_stuck_large(record, REPORT_CLIENT) || report_is_stuck_large(record, REPORT_SERVER));
}

static uint64_t
report_measure_mtu(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	if (!report_is_mtu(record))
		return 0;
	return (report_is_lost_large(record) ? record->patience_us : record->waits.lost[0] + record->waits.lost[1]) + 1;
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

		report_set_packet(
		    &finding->evidence[i],
		    report_trouble(&record->ends[report_is_stuck_large(record, REPORT_SERVER)])->repeats.packet);
	}
	e = report_is_stuck_large(found.worst, REPORT_SERVER) ? REPORT_SERVER : REPORT_CLIENT;
	end = &found.worst->ends[e];
	finding->count = found.count;
	finding->waited_us = found.sum;
	finding->cost_us = found.sum + found.count * REPORT_FAILURE_US;
	report_write(finding, "MTU black hole: on %" PRIu64 " connection%s with ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	if (report_is_lost_large(found.worst)) {
		report_write(
		    finding,
		    " %u packets of the server did not arrive at the capture (their identifications are missing), "
		    "only small ones did, until the client gave up; no ICMP error says that they are too big for the "
		    "path.",
		    found.worst->ends[REPORT_SERVER].events.idents_missing);
		return;
	}
	report_write(finding, " large segments of the %s (%u bytes) never arrive and small ones do; %s",
		     e == REPORT_CLIENT ? "client" : "server", report_trouble(end)->stuck_length,
		     found.worst->silence.too_big != 0
			 ? "an ICMP error says that they are too big for the path, and the sender does not heed it."
			 : "no ICMP error says that they are too big for the path.");
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
	report_write(finding,
		     "The path died: %" PRIu64 " connection%s fell silent; the %s %s port %u answered none of %" PRIu64
		     " %s in ",
		     found.count, report_plural(found.count), worst->silence.end == REPORT_CLIENT ? "server" : "client",
		     worst->ends[1 - worst->silence.end].address, worst->ends[1 - worst->silence.end].port,
		     worst->silence.repeats, worst->silence.probes ? "keep-alive probes" : "retransmissions");
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

/* -------------------------------------------------------------------------------------------------- gave up, resets */

/* From this time on, us, a client that closes without an answer has given up. */
#define PATIENCE_US 500000u

/* Times for which clients wait before they give up are equal if they differ by less than this, us and a part of
 * them. */
#define PATIENCE_SPREAD_US   30000u
#define PATIENCE_SPREAD_PART 32u

/* An alert of TLS that the server closes, too, is no longer than this. */
#define FAREWELL_BYTES 40u

/* An answer goes on if its latest data has come so long before, us; what a server sends so soon after a request may be
 * no answer: TLS sends tickets then. */
#define GOES_ON_US 500000u
#define PROMPT_US  100000u

/* Whether an answer was under way when the client closed: none of it had come, or it went on.  A server that pushes
 * messages has no answer under way. */
static bool
report_is_under_way(const struct report_record *record)
{
	const struct report_end_events *client = &record->ends[REPORT_CLIENT].events;
	uint64_t data = client->finish_data_time, asked = client->finish_time - 1000 * record->patience_us;

	if (record->abandoned)
		return true;
	return !report_pushes(record) && (client->finish_time <= data + 1000 * GOES_ON_US ||
					  (record->patience_us != 0 && data <= asked + 1000 * PROMPT_US));
}

/* Whether a client closes, and resets the connection when more of an answer comes. */
static bool
report_is_cut_off(const struct report_record *record)
{
	bool waited = record->unanswered_us < 0 || record->unanswered_us >= REPORT_SLOW_ANSWER_US;

	return waited && record->protocol == IPPROTO_TCP && record->closed_by == REPORT_CLIENT && record->cut &&
	       record->reason == REPORT_RESET_CLIENT && report_is_under_way(record) &&
	       record->ends[REPORT_SERVER].bytes > record->ends[REPORT_CLIENT].events.finish_received + FAREWELL_BYTES;
}

static bool
report_are_alike(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= PATIENCE_SPREAD_US + b / PATIENCE_SPREAD_PART;
}

void
report_note_patience(struct report_service *service, const struct report_record *record)
{
	if (record->protocol != IPPROTO_TCP || record->patience_us < PATIENCE_US)
		return;
	if (report_is_cut_off(record))
		service->cut_off_us = record->patience_us;
	if (!record->abandoned || record->ends[REPORT_SERVER].bytes == 0)
		return;
	if (service->abandoned_us == 0)
		service->abandoned_us = record->patience_us;
	service->abandoned += report_are_alike(record->patience_us, service->abandoned_us);
}

/* Whether another client of the service gave up after the same time, or no client had an answer. */
static bool
report_gave_up_alike(const struct report_facts *facts, const struct report_record *record)
{
	const struct report_service *service = report_service_of(facts, record);

	if (service->cut_off_us != 0 &&
	    (record->abandoned || report_are_alike(record->patience_us, service->cut_off_us)))
		return true;
	return record->abandoned && record->ends[REPORT_SERVER].bytes > 0 && service->abandoned >= 2 &&
	       report_are_alike(record->patience_us, service->abandoned_us);
}

bool
report_is_given_up(const struct report_facts *facts, const struct report_record *record)
{
	if (record->protocol != IPPROTO_TCP || record->patience_us < PATIENCE_US || report_is_mtu(record))
		return false;
	return report_is_cut_off(record) || report_gave_up_alike(facts, record);
}

/* A request without any answer when an end closed, or the capture ended. */
static uint64_t
report_measure_unanswered(const struct report_facts *facts, const struct report_record *record)
{
	return record->open_request.packet != 0 && record->ends[REPORT_SERVER].zero_windows == 0 &&
		       !report_is_given_up(facts, record)
		   ? 1 + record->open_request.us
		   : 0;
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
		report_write(finding, "the %s gave up after ",
			     worst->open_request.end == REPORT_SERVER ? "server" : "client");
	report_write_time(finding, worst->open_request.us);
	report_write(finding, ".");
}

/* A client that closes before an answer is complete. */
static uint64_t
report_measure_gave_up(const struct report_facts *facts, const struct report_record *record)
{
	if (report_is_given_up(facts, record))
		return 1 + record->patience_us;
	return report_is_cut_off(record) && record->open_request.packet == 0 ? 1 + record->duration_us : 0;
}

void
report_find_gave_up(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_gave_up, REPORT_RESET);
	uint64_t before = 0;

	if (found.count == 0)
		return;
	for (size_t i = 0; i < facts->count; i++)
		before += facts->list[i].abandoned && report_is_given_up(facts, &facts->list[i]);
	finding->count = found.count;
	finding->waited_us = found.sum;
	finding->cost_us = found.sum + found.count * REPORT_FAILURE_US;
	report_write(finding, "The client gave up: %" PRIu64 " connection%s to ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " %s closed by the client %s, the longest after ", found.count == 1 ? "was" : "were",
		     before == found.count ? "before any byte of the answer came"
		     : before == 0	   ? "in the middle of an answer"
					   : "before or in the middle of an answer");
	report_write_time(finding, found.max);
	report_write(finding, ": its patience is shorter than the server needs.");
}

/* ----------------------------------------------------------------------------------------------------------- resets */

/* A connection without data for so long, us, is idle when its server closes it. */
#define RESET_IDLE_US 700000u

static bool
report_is_reset(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP && record->reason == REPORT_RESET_SERVER &&
	       record->closed_by == REPORT_SERVER && record->opened;
}

/* The round trip from the capture to the server, ns. */
static uint64_t
report_server_trip_ns(const struct report_record *record)
{
	return record->rtt_us[REPORT_SERVER] > 0 ? 1000 * (uint64_t)record->rtt_us[REPORT_SERVER] : 0;
}

/* The RST has come another way than the other packets of its sender. */
static bool
report_is_foreign_reset(const struct report_record *record)
{
	const struct report_end_events *server = &record->ends[REPORT_SERVER].events;

	return server->rst_ttl != 0 && server->ttl != 0 && server->rst_ttl != server->ttl;
}

/* A server that has closed an idle connection before it could receive the latest request, and answers that with a RST;
 * or that resets an idle connection, which its client cannot use any more. */
static uint64_t
report_measure_idle_closed(const struct report_facts *facts, const struct report_record *record)
{
	const struct report_end_events *server = &record->ends[REPORT_SERVER].events;
	const struct report_request_event *request = report_end_request(&record->ends[REPORT_CLIENT].events);

	(void)facts;
	if (!report_is_reset(record) || report_is_foreign_reset(record) || request->packet == 0 ||
	    record->waits.program[REPORT_CLIENT] < RESET_IDLE_US)
		return 0;
	if (record->ends[REPORT_SERVER].bytes <= request->received)
		return request->received > 0 && server->finish_time < request->time + report_server_trip_ns(record);
	return server->reset_first && server->finish_time >= server->data_time + 1000 * RESET_IDLE_US;
}

void
report_find_idle_closed(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_idle_closed, REPORT_RESET);
	const struct report_request_event *request;
	uint64_t raced = 0;

	if (found.count == 0)
		return;
	for (size_t i = 0; i < facts->count; i++) {
		request = report_end_request(&facts->list[i].ends[REPORT_CLIENT].events);
		raced += report_measure_idle_closed(facts, &facts->list[i]) != 0 &&
			 facts->list[i].ends[REPORT_SERVER].bytes <= request->received;
	}
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "The server closes idle connections: on %" PRIu64 " connection%s to ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " it closed after an idle time of ");
	report_write_time(finding, found.worst->waits.program[REPORT_CLIENT]);
	if (raced > 0)
		report_write(finding,
			     ", and %" PRIu64
			     " request%s that came just then or later got a RST in place of an answer; the "
			     "client should keep connections for a shorter time than the server does.",
			     raced, report_plural(raced));
	else
		report_write(finding, " by a RST; a client that uses such a connection again gets an error.");
}

/* A server that resets in the middle of an exchange. */
static uint64_t
report_measure_reset(const struct report_facts *facts, const struct report_record *record)
{
	return report_is_reset(record) && report_measure_idle_closed(facts, record) == 0;
}

void
report_find_reset(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_reset, REPORT_RESET);
	bool began, foreign;

	if (found.count == 0)
		return;
	began = found.worst->ends[REPORT_SERVER].bytes >
		report_end_request(&found.worst->ends[REPORT_CLIENT].events)->received;
	foreign = report_is_foreign_reset(found.worst);
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	if (foreign)
		finding->side = "network";
	report_write(finding,
		     foreign ? "A firewall reset %" PRIu64 " connection%s to "
			     : "The server reset %" PRIu64 " connection%s at ",
		     found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " %s: %s.", began ? "in the middle of an answer" : "instead of an answer",
		     foreign ? "the RST has another TTL than the packets of the server"
			     : "its program failed or closed without reading");
}

/* ------------------------------------------------------------------------------------------------------ half-closed */

/* A connection that its other end has closed so long ago, us, when this end closes was forgotten by the program. */
#define FORGOTTEN_US 3000000u

/* How long the end that got a FIN has not closed, us. */
static uint64_t
report_measure_half_closed(const struct report_facts *facts, const struct report_record *record, unsigned end)
{
	const struct report_end_events *self = &record->ends[end].events, *peer = &record->ends[1 - end].events;
	bool open = record->close_wait[end];
	uint64_t until = open ? facts->capture->volume.last : self->finish_time;
	uint64_t us = peer->finish_time != 0 && until > peer->finish_time ? (until - peer->finish_time) / 1000 : 0;

	return record->protocol == IPPROTO_TCP && us >= (open ? HALF_CLOSED_US : FORGOTTEN_US) && !record->cut &&
		       !peer->reset_first && record->ends[end].segments > 1 && record->silence.packet == 0 &&
		       record->open_request.packet == 0 && !(record->abandoned && record->patience_us >= PATIENCE_US)
		   ? us
		   : 0;
}

static uint64_t
report_measure_half_closed_server(const struct report_facts *facts, const struct report_record *record)
{
	return report_measure_half_closed(facts, record, REPORT_SERVER);
}

static uint64_t
report_measure_half_closed_client(const struct report_facts *facts, const struct report_record *record)
{
	return report_measure_half_closed(facts, record, REPORT_CLIENT);
}

static void
report_write_half_closed(struct report_finding *finding, const struct report_facts *facts, report_measure measure,
			 bool server)
{
	struct report_gathered found = report_gather(finding, facts, measure, REPORT_EVENTS);

	if (found.count < 2)
		return;
	finding->count = found.count;
	finding->cost_us = found.count * REPORT_FAILURE_US;
	report_write(finding, "The %s does not close: %" PRIu64 " connection%s to ", server ? "server" : "client",
		     found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " stay half-closed (CLOSE_WAIT at the %s) after the FIN of the %s, the longest for ",
		     server ? "server" : "client", server ? "client" : "server");
	report_write_time(finding, found.max);
	report_write(finding, "; the program of the %s leaks them.", server ? "server" : "client");
}

void
report_find_half_closed_server(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_half_closed(finding, facts, report_measure_half_closed_server, true);
}

void
report_find_half_closed_client(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_half_closed(finding, facts, report_measure_half_closed_client, false);
}
