/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about where the time of connections goes. */
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>

#include "tools/report/report_findings.h"

/* Waits of a connection below this, us, are worth no finding. */
#define WAIT_MIN_US 200000u

/* A server that takes this mean time, us, for so many answers is slow, too. */
#define SLOW_MEAN_US	  250000u
#define SLOW_MEAN_ANSWERS 4u

/* Answers that take long, all of them equally long, to a client that asks again at once: long polls, which wait for an
 * event or the end of their time. */
#define POLL_MIN_US   1900000u
#define POLL_ANSWERS  3u
#define POLL_AGAIN_US 100000u
#define POLL_BYTES    1000u

/* A round trip of this length, us, is a distance. */
#define DISTANCE_US 100000

/* Requests in a row on one connection, each answered soon, that make a chatty protocol. */
#define CHATTY_REQUESTS 100u
#define CHATTY_US	50000u

/* A transfer that pauses and is slower than this, bytes a second, has a slow sender. */
#define SLOW_SENDER_RATE  65536u
#define SLOW_SENDER_BYTES 16384u

static bool
report_is_tcp(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP;
}

/* ------------------------------------------------------------------------------------------------- the program */

static bool
report_is_long_poll(const struct report_facts *facts, const struct report_record *record)
{
	const struct report_service *service = report_service_of(facts, record);
	uint64_t spread = service->server_max_us - service->server_min_us;

	return service->exchanges >= POLL_ANSWERS && service->slow_answers == service->exchanges &&
	       service->server_min_us >= POLL_MIN_US && spread <= service->server_max_us / 20 &&
	       service->program_us[REPORT_CLIENT] <= POLL_AGAIN_US * service->exchanges &&
	       service->bytes <= 2 * POLL_BYTES * service->exchanges;
}

/* Whether the server sends messages for which nothing was asked: short ones, long after its last one. */
bool
report_pushes(const struct report_record *record)
{
	return record->waits.sending[REPORT_SERVER] >= SLOW_ANSWER_US && record->pause_max_us >= SLOW_ANSWER_US &&
	       record->ends[REPORT_SERVER].bytes <= POLL_BYTES * (record->turns + 4);
}

/* The longest time of the server for an answer whose packets were found; 0 if there is none. */
static int64_t
report_found_us(const struct report_record *record)
{
	return report_record_answer_is_found(record) ? record->answers[REPORT_ANSWER_SERVER].server_us : 0;
}

/* Names the packets of the answers that took longest, where they are known.  Each link goes to the answer, after the
 * pause. */
static void
report_link_answers(struct report_finding *finding, const struct report_facts *facts)
{
	for (size_t e = 0; e < finding->evidence_count; e++) {
		struct report_evidence *evidence = &finding->evidence[e];
		const struct report_record *record = &facts->list[evidence->record];
		const struct report_answer *answer;
		char again[48] = "";

		if (!report_record_answer_is_found(record))
			continue;
		answer = &record->answers[REPORT_ANSWER_SERVER];
		if (answer->answer == 0 || answer->server_us < record->answers[REPORT_ANSWER_REACTION].server_us)
			answer = &record->answers[REPORT_ANSWER_REACTION];
		if (answer->answer == 0)
			continue;
		if (answer->last_copy > 0)
			snprintf(again, sizeof again, " and again in packet %" PRIu64, answer->last_copy);
		evidence->frame = answer->answer;
		snprintf(evidence->text, sizeof evidence->text,
			 "request in packet %" PRIu64 "%s, answer in packet %" PRIu64, answer->request, again,
			 answer->answer);
	}
}

/* Whether a service takes long for all of its answers, though perhaps not as long as a slow answer. */
static bool
report_is_slow_in_the_mean(const struct report_facts *facts, const struct report_record *record)
{
	const struct report_service *service = report_service_of(facts, record);

	return report_is_tcp(record) && service->exchanges >= SLOW_MEAN_ANSWERS &&
	       service->program_us[REPORT_SERVER] / service->exchanges >= SLOW_MEAN_US &&
	       service->server_min_us >= SLOW_MEAN_US / 2;
}

static uint64_t
report_measure_slow_server(const struct report_facts *facts, const struct report_record *record)
{
	bool slow = record->slow_answers != 0 || report_is_slow_in_the_mean(facts, record);

	if (record->abandoned && report_is_given_up(facts, record))
		return 0;
	if (record->missing != 0) /* an answer may be what the capture lacks */
		return report_found_us(record) >= REPORT_SLOW_ANSWER_US ? (uint64_t)report_found_us(record) : 0;
	if (record->greeting_us != 0 && record->slow_answers == 0)
		return record->greeting_us;
	return slow && !report_service_of(facts, record)->dns && !report_is_long_poll(facts, record) &&
		       !report_pushes(record)
		   ? record->waits.program[REPORT_SERVER]
		   : 0;
}

/* The path of HTTP at the server of a record that was answered late most often; NULL if there is none. */
static const char *
report_slow_path(const struct report_facts *facts, const struct report_record *record)
{
	const struct report_end *server = &record->ends[REPORT_SERVER];
	const struct report_failure *most = NULL;

	for (size_t i = 0; i < REPORT_FAILURES; i++) {
		const struct report_failure *failure = &facts->capture->failures.list[i];

		if (failure->kind == REPORT_HTTP_SLOW && failure->server == server->address &&
		    failure->port == server->port && (most == NULL || failure->count > most->count))
			most = failure;
	}
	return most != NULL ? most->group : NULL;
}

void
report_find_slow_server(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_slow_server, REPORT_GREETING);
	uint64_t slow = 0, answers = 0, longest = 0, limit_us = SLOW_ANSWER_US;
	const char *path;

	if (found.count == 0)
		return;
	report_link_answers(finding, facts);
	for (size_t i = 0; i < facts->count; i++) {
		const struct report_record *record = &facts->list[i];

		if (report_measure_slow_server(facts, record) == 0)
			continue;
		if (report_is_slow_in_the_mean(facts, record)) {
			limit_us = report_service_of(facts, record)->server_min_us;
			slow += record->exchanges;
		} else {
			slow += record->slow_answers != 0 ? record->slow_answers : 1;
		}
		answers += record->exchanges;
		if (record->server_max_us > (int64_t)longest)
			longest = (uint64_t)record->server_max_us;
		if (record->greeting_us > longest)
			longest = record->greeting_us;
	}
	finding->count = slow;
	if (found.services == 1 && report_service_of(facts, found.worst)->exchanges > answers)
		answers = report_service_of(facts, found.worst)->exchanges;
	finding->of = answers > slow ? answers : slow;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "The server is slow: clients waited ");
	report_write_time(finding, found.sum);
	report_write(finding, " for the program at ");
	report_write_where(finding, &found);
	report_write(finding, ", which took ");
	report_write_time(finding, limit_us);
	report_write(finding, " or more for %" PRIu64 " of %" PRIu64 " answer%s on %" PRIu64 " connection%s, at most ",
		     slow, finding->of, report_plural(finding->of), found.count, report_plural(found.count));
	report_write_time(finding, longest);
	path = report_slow_path(facts, found.worst);
	if (path != NULL && slow < finding->of)
		report_write(finding, "; most of them for %s", path);
	report_write(finding, ".");
}

/* --------------------------------------------------------------------------------------------------- the distance */

static int64_t
report_round_trip(const struct report_record *record)
{
	const int64_t *rtt = record->rtt_us;

	return (rtt[0] > 0 ? rtt[0] : 0) + (rtt[1] > 0 ? rtt[1] : 0);
}

static uint64_t
report_measure_distance(const struct report_facts *facts, const struct report_record *record)
{
	uint64_t path = record->waits.path + record->waits.connect;

	(void)facts;
	return report_is_tcp(record) && report_round_trip(record) >= DISTANCE_US && path >= WAIT_MIN_US ? path : 0;
}

void
report_find_distance(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_distance, REPORT_OPENED);
	uint64_t requests = 0;

	if (found.count == 0 || found.sum < 1000000)
		return;
	for (size_t i = 0; i < facts->count; i++)
		if (report_measure_distance(facts, &facts->list[i]) != 0)
			requests += facts->list[i].exchanges;
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "Distance: a round trip to ");
	report_write_where(finding, &found);
	report_write(finding, " takes ");
	report_write_time(finding, (uint64_t)report_round_trip(found.worst));
	report_write(finding, "; %" PRIu64 " connection%s with %" PRIu64 " request%s, one after the other, spent ",
		     found.count, report_plural(found.count), requests, report_plural(requests));
	report_write_time(finding, found.sum);
	report_write(finding, " on such round trips alone.");
}

static uint64_t
report_measure_chatty(const struct report_facts *facts, const struct report_record *record)
{
	uint64_t waited = record->waits.path + record->waits.program[REPORT_SERVER];

	(void)facts;
	if (!report_is_tcp(record) || record->exchanges < CHATTY_REQUESTS || record->turns < 2 * CHATTY_REQUESTS - 1)
		return 0;
	return waited / record->exchanges <= CHATTY_US && waited >= 1000000 &&
		       record->waits.program[REPORT_CLIENT] < waited
		   ? waited
		   : 0;
}

void
report_find_chatty(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_chatty, REPORT_EVENTS);

	if (found.count == 0)
		return;
	finding->count = found.worst->exchanges;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "Chatty: %" PRIu64 " request%s to ", found.worst->exchanges,
		     report_plural(found.worst->exchanges));
	report_write_where(finding, &found);
	report_write(finding, " one after the other on a connection, each answered in ");
	report_write_time(finding, found.max / found.worst->exchanges);
	report_write(finding, ", made the client wait ");
	report_write_time(finding, found.max);
	report_write(finding, " in all: fewer, larger requests would be faster.");
}

/* ------------------------------------------------------------------------------------------------------------ loss */

/* Segments of an end that were sent again, without those of the handshake. */
static uint64_t
report_resent_data(const struct report_record *record, unsigned end)
{
	uint64_t syn = report_trouble(&record->ends[end])->syn_again.packet != 0 ? record->resent_syn : 0;
	uint64_t resent = record->ends[end].resent;

	return resent > syn ? resent - syn : 0;
}

/* Whether what an end sent again had arrived: its peer reports what it got twice.  Then the answer was lost, or the
 * ACK. */
static bool
report_came_twice(const struct report_record *record, unsigned end)
{
	const struct report_end *peer = &record->ends[1 - end];
	uint64_t twice = report_trouble(peer)->duplicates_reported;

	return twice > 0 && peer->zero_windows == 0 && 2 * twice >= report_resent_data(record, end);
}

/* Packets of an end that the capture lacks, by their identifications. */
static uint64_t
report_idents_missing(const struct report_record *record, unsigned end)
{
	const struct report_end_events *events = &record->ends[end].events;

	uint64_t most = record->ends[1 - end].segments + record->ends[end].segments / 2 + 4;

	/* Some systems count the packets of all connections: then more are missing than the end can have sent. */
	return events->idents_next >= 4 && events->idents_odd <= events->idents_next / 16 &&
		       record->ends[end].segments + events->idents_missing <= most
		   ? events->idents_missing
		   : 0;
}

/* Packets of an end that others overtook: late ones in the capture, or sent again although they arrive, while no
 * packet of the peer is missing. */
static uint64_t
report_late_packets(const struct report_record *record, unsigned end)
{
	const struct report_end_events *self = &record->ends[end].events, *peer = &record->ends[1 - end].events;
	uint64_t late = self->idents_late;

	if (!report_is_tcp(record))
		return 0;
	if (report_came_twice(record, end) && peer->idents_next >= 4 && peer->idents_missing == 0 &&
	    peer->idents_odd == 0 && record->resent_timeout == 0 && report_resent_data(record, end) > late)
		late = report_resent_data(record, end);
	return late;
}

static bool
report_is_reordered(const struct report_record *record, unsigned end)
{
	uint64_t late = report_late_packets(record, end);

	return late >= 3 && 50 * late >= record->ends[end].segments;
}

/* Packets of an end that were lost: sent again because they had not arrived, or missing in the capture. */
static uint64_t
report_lost_packets(const struct report_record *record, unsigned end)
{
	uint64_t lost = report_came_twice(record, end) ? 0 : report_resent_data(record, end);
	uint64_t missing = report_came_twice(record, 1 - end) ? report_idents_missing(record, end) : 0;

	if (report_came_twice(record, 1 - end) && missing == 0)
		missing = report_resent_data(record, 1 - end);
	return lost > missing ? lost : missing;
}

/* Whether an end that sends little but ACKs loses many of them on the way to the capture. */
bool
report_loses_acks(const struct report_record *record, unsigned end)
{
	uint64_t missing = report_idents_missing(record, end);

	return report_is_tcp(record) && missing >= 4 && 4 * missing >= record->ends[end].segments &&
	       4 * record->ends[1 - end].events.idents_missing < record->ends[1 - end].segments &&
	       10 * record->ends[end].bytes < record->ends[1 - end].bytes;
}

/* Whether an end of a transfer loses much, but only after it has sent a while without loss: what exceeds a rate. */
static bool
report_is_policed(const struct report_record *record, unsigned end)
{
	const struct report_end_trouble *trouble = report_trouble(&record->ends[end]);
	uint64_t resent = report_resent_data(record, end);
	uint64_t since = record->ends[end].segments - trouble->segments_before_loss;

	return report_is_tcp(record) && trouble->segments_before_loss >= 8 && resent >= 8 && 4 * resent >= since &&
	       record->silence.packet == 0;
}

static uint64_t
report_lost_us(const struct report_record *record, unsigned end)
{
	uint64_t handshake = record->resent_syn != 0 && record->handshake_us > (int64_t)record->waits.connect
				 ? (uint64_t)record->handshake_us - record->waits.connect
				 : 0;
	uint64_t lost = record->waits.lost[end];

	return lost > handshake ? lost - handshake : 0;
}

/* The time that is lost for what an end sends; a loss that is repaired fast counts a little. */
static uint64_t
report_measure_lost(const struct report_record *record, unsigned end)
{
	uint64_t lost = report_is_tcp(record) ? report_lost_packets(record, end) : 0;
	uint64_t us = (report_came_twice(record, end) ? 0 : report_lost_us(record, end)) +
		      (report_came_twice(record, 1 - end) ? report_lost_us(record, 1 - end) : 0);
	bool much = lost >= 5 && 100 * lost >= record->ends[end].segments;

	if (us < WAIT_MIN_US && report_trouble(&record->ends[end])->too_big_packet != 0)
		return 0; /* routers drop what is too big, and the sender heeds that */
	if (lost == 0 || report_is_reordered(record, end) || report_is_reordered(record, 1 - end) ||
	    record->ends[1 - end].segments == 0 || record->silence.packet != 0 || report_is_mtu(record) ||
	    report_loses_acks(record, end) || report_is_policed(record, end) || (us < WAIT_MIN_US && !much))
		return 0;
	return us + lost * 1000;
}

static uint64_t
report_measure_lost_client(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_measure_lost(record, REPORT_CLIENT);
}

static uint64_t
report_measure_lost_server(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_measure_lost(record, REPORT_SERVER);
}

static void
report_write_lost(struct report_finding *finding, const struct report_facts *facts, unsigned end,
		  report_measure measure)
{
	struct report_gathered found = report_gather(finding, facts, measure, REPORT_RESENT);
	uint64_t resent = 0, segments = 0, before = 0, us = 0;
	const char *from = end == REPORT_CLIENT ? "client" : "server", *to = end == REPORT_CLIENT ? "server" : "client";

	if (found.count == 0)
		return;
	for (size_t i = 0; i < facts->count; i++) {
		const struct report_record *record = &facts->list[i];

		if (measure(facts, record) == 0)
			continue;
		resent += report_lost_packets(record, end);
		segments += record->ends[end].segments;
		before +=
		    report_came_twice(record, 1 - end) ? report_lost_packets(record, end) : record->lost_before[end];
		us += measure(facts, record) - 1000 * report_lost_packets(record, end);
	}
	finding->count = found.count;
	finding->waited_us = us;
	finding->cost_us = found.sum;
	report_write(finding,
		     "Loss toward the %s: %" PRIu64 " of %" PRIu64 " segments (%.1f %%) of the %s on %" PRIu64
		     " connection%s were lost and sent again, which cost ",
		     to, resent, segments, 100.0 * (double)resent / (double)segments, from, found.count,
		     report_plural(found.count));
	report_write_time(finding, us);
	report_write(finding, "; they were lost %s the capture point; server ",
		     before == 0	    ? "after"
		     : 2 * before >= resent ? "before"
					    : "before and after");
	report_write_where(finding, &found);
	report_write(finding, ".");
}

void
report_find_lost_client(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_lost(finding, facts, REPORT_CLIENT, report_measure_lost_client);
}

void
report_find_lost_server(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_lost(finding, facts, REPORT_SERVER, report_measure_lost_server);
}

static uint64_t
report_measure_lost_acks(const struct report_facts *facts, const struct report_record *record)
{
	uint64_t sum = 0;

	(void)facts;
	for (unsigned e = 0; e < REPORT_ENDS; e++)
		if (report_loses_acks(record, e))
			sum += record->waits.lost[0] + record->waits.lost[1] + 1000 * report_idents_missing(record, e);
	return sum;
}

void
report_find_lost_acks(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_lost_acks, REPORT_RESENT);
	uint64_t missing = 0, segments = 0;
	unsigned e;

	if (found.count == 0)
		return;
	e = report_loses_acks(found.worst, REPORT_CLIENT) ? REPORT_CLIENT : REPORT_SERVER;
	for (size_t i = 0; i < facts->count; i++) {
		if (!report_loses_acks(&facts->list[i], e))
			continue;
		missing += report_idents_missing(&facts->list[i], e);
		segments += facts->list[i].ends[e].segments;
	}
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "ACKs of the %s are lost: on %" PRIu64 " connection%s with ",
		     e == REPORT_CLIENT ? "client" : "server", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding,
		     " %" PRIu64 " of %" PRIu64 " packets of the %s, nearly all of them ACKs, did not arrive at the "
		     "capture (their identifications are missing).",
		     missing, missing + segments, e == REPORT_CLIENT ? "client" : "server");
}

static uint64_t
report_measure_policed(const struct report_facts *facts, const struct report_record *record)
{
	uint64_t sum = 0;

	(void)facts;
	for (unsigned e = 0; e < REPORT_ENDS; e++)
		if (report_is_policed(record, e))
			sum += record->waits.lost[e] + 1000 * report_resent_data(record, e);
	return sum;
}

void
report_find_policer(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_policed, REPORT_RESENT);
	const struct report_end *end;
	unsigned e;

	if (found.count == 0)
		return;
	e = report_is_policed(found.worst, REPORT_SERVER) ? REPORT_SERVER : REPORT_CLIENT;
	end = &found.worst->ends[e];
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "A policer limits the rate: on %" PRIu64 " connection%s with ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding,
		     " the first %" PRIu64 " kB of the %s passed, and what exceeded about %" PRIu64
		     " kB/s after that was dropped (%" PRIu64 " of %" PRIu64 " segments), which cost ",
		     report_trouble(end)->acked_before_loss / 1000, e == REPORT_SERVER ? "server" : "client",
		     found.worst->duration_us != 0 ? end->bytes * 1000 / found.worst->duration_us : 0, end->resent,
		     end->segments);
	report_write_time(finding, found.sum);
	report_write(finding, ".");
}

static uint64_t
report_measure_reordered(const struct report_facts *facts, const struct report_record *record)
{
	uint64_t cost = 0;

	(void)facts;
	for (unsigned e = 0; e < REPORT_ENDS; e++)
		if (report_is_reordered(record, e))
			cost += 1000 * report_late_packets(record, e) + record->waits.lost[e];
	return cost;
}

void
report_find_reordered(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_reordered, REPORT_RESENT);
	uint64_t late = 0, segments = 0;
	unsigned e;

	if (found.count == 0)
		return;
	e = report_is_reordered(found.worst, REPORT_SERVER) ? REPORT_SERVER : REPORT_CLIENT;
	for (size_t i = 0; i < facts->count; i++) {
		if (!report_is_reordered(&facts->list[i], e))
			continue;
		late += report_late_packets(&facts->list[i], e);
		segments += facts->list[i].ends[e].segments;
	}
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "Reordering toward the %s: on %" PRIu64 " connection%s with ",
		     e == REPORT_SERVER ? "client" : "server", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding,
		     " %" PRIu64 " of %" PRIu64
		     " packets of the %s arrived out of order, overtaken by later ones; nothing "
		     "was lost, but senders take it for loss and send again.",
		     late, segments, e == REPORT_SERVER ? "server" : "client");
}

/* Packets of an end that its peer got twice although they were sent once. */
static uint64_t
report_doubled(const struct report_record *record, unsigned end)
{
	uint64_t twice = report_trouble(&record->ends[1 - end])->duplicates_reported, resent = record->ends[end].resent;

	return report_is_tcp(record) && twice >= resent + 3 ? twice - resent : 0;
}

static uint64_t
report_measure_doubled(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return 1000 * (report_doubled(record, REPORT_CLIENT) + report_doubled(record, REPORT_SERVER));
}

void
report_find_doubled(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_doubled, REPORT_EVENTS);
	bool server;

	if (found.count == 0)
		return;
	server = report_doubled(found.worst, REPORT_SERVER) != 0;
	finding->count = found.count;
	finding->cost_us = found.sum;
	report_write(finding, "The network duplicates packets toward the %s: on %" PRIu64 " connection%s with ",
		     server ? "client" : "server", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding,
		     " the %s says of %" PRIu64
		     " segments that it got them twice (D-SACK), though they were sent once.",
		     server ? "client" : "server", found.sum / 1000);
}

/* ----------------------------------------------------------------------------------------------- queues and windows */

/* Round trips that grow to this under load, us, and so many times the shortest one, are those of a long queue. */
#define QUEUE_US    100000u
#define QUEUE_TIMES 4u
#define QUEUE_BYTES 50000u

/* The mean time from an ACK of the peer to the data of an end that comes after it, us, by timestamps; 0 unknown. */
static uint64_t
report_lag_us(const struct report_record *record, unsigned end)
{
	const struct report_end_events *self = &record->ends[end].events, *peer = &record->ends[1 - end].events;
	uint64_t ticks = peer->ticks - peer->ticks_first, us = (peer->ticks_time - peer->ticks_first_time) / 1000;

	if (self->lags < 20 || ticks < 100 || us == 0 || ticks > us)
		return 0;
	return self->lag_ticks * us / ticks / self->lags;
}

/* The mean round trip, us, while an end fills a queue on the way to its peer; 0 if it fills none. */
static uint64_t
report_queue_us(const struct report_record *record, unsigned end)
{
	const int64_t *rtt = record->rtt_us, *loaded = record->loaded_us;
	uint64_t shortest = (rtt[0] > 0 ? (uint64_t)rtt[0] : 0) + (rtt[1] > 0 ? (uint64_t)rtt[1] : 0), us;

	if (!report_is_tcp(record) || record->ends[end].bytes < QUEUE_BYTES)
		return 0;
	us = loaded[1 - end] > 0 ? (uint64_t)loaded[1 - end] : 0;
	if (report_lag_us(record, end) > us)
		us = report_lag_us(record, end);
	return us >= QUEUE_US && us >= QUEUE_TIMES * shortest && record->ends[1 - end].zero_windows == 0 ? us : 0;
}

static bool
report_is_queued(const struct report_record *record, unsigned end)
{
	return report_queue_us(record, end) != 0;
}

static uint64_t
report_measure_queue(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	for (unsigned e = 0; e < REPORT_ENDS; e++)
		if (report_is_queued(record, e))
			return record->waits.network + record->waits.sending[e];
	return 0;
}

void
report_find_queue(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_queue, REPORT_EVENTS);
	uint64_t rate;
	unsigned e;

	if (found.count == 0 || found.sum < 1000000)
		return;
	e = report_is_queued(found.worst, REPORT_SERVER) ? REPORT_SERVER : REPORT_CLIENT;
	rate = found.worst->ends[e].bytes * 1000 / found.max;
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "A queue limits the rate toward the %s: on %" PRIu64 " connection%s with ",
		     e == REPORT_SERVER ? "client" : "server", found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " round trips grow to ");
	report_write_time(finding, report_queue_us(found.worst, e));
	report_write(finding, " under load, from ");
	report_write_time(finding, (uint64_t)report_round_trip(found.worst));
	report_write(finding,
		     "; about %" PRIu64
		     " kB/s pass, and what exceeds that waits in the queue of a shaper or of a slow link.",
		     rate);
}

/* The time of a transfer to an end whose window is too small for the distance, us: as much as the window holds passes
 * in each round trip. */
static uint64_t
report_small_window_us(const struct report_record *record, unsigned end)
{
	const struct report_waits *w = &record->waits;
	uint64_t us = w->network + w->sending[1 - end] + w->window[end], bytes = record->ends[1 - end].bytes;
	uint64_t window = record->ends[end].events.window_max;

	if (!report_is_tcp(record) || !record->opened || window == 0 || bytes < 4 * window || us < 500000 ||
	    report_round_trip(record) < 10000 || record->ends[end].zero_windows != 0 ||
	    report_is_queued(record, 1 - end) ||
	    report_resent_data(record, 1 - end) > record->ends[1 - end].segments / 100)
		return 0;
	return bytes * (uint64_t)report_round_trip(record) / us >= window / 2 ? us : 0;
}

static uint64_t
report_measure_small_window(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_small_window_us(record, REPORT_CLIENT) + report_small_window_us(record, REPORT_SERVER);
}

void
report_find_small_window(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_small_window, REPORT_EVENTS);
	const struct report_record *worst = found.worst;
	bool client, unscaled;

	if (found.count == 0)
		return;
	client = report_small_window_us(worst, REPORT_CLIENT) != 0;
	unscaled = !worst->ends[REPORT_CLIENT].scales || !worst->ends[REPORT_SERVER].scales;
	finding->side = unscaled ? "network" : client ? "client" : "server";
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "The window is too small for the distance: on %" PRIu64 " connection%s with ",
		     found.count, report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " the receive window of the %s is at most %u bytes, and a round trip takes ",
		     client ? "client" : "server",
		     worst->ends[client ? REPORT_CLIENT : REPORT_SERVER].events.window_max);
	report_write_time(finding, (uint64_t)report_round_trip(worst));
	report_write(finding, ", so that transfers took ");
	report_write_time(finding, found.sum);
	report_write(finding, "%s.",
		     !unscaled ? "; its buffer is small"
		     : worst->ends[REPORT_CLIENT].scales
			 ? "; the SYN,ACK has no window scaling: the server does not know it, or a "
			   "firewall has removed the option"
			 : "; the SYN has no window scaling: the client does not know it, or a firewall "
			   "has removed the option");
}

/* Small segments that an end held back for late ACKs: not what the distance explains. */
static uint64_t
report_held_us(const struct report_record *record, unsigned end)
{
	const struct report_end_trouble *trouble = report_trouble(&record->ends[end]);
	uint64_t trips = trouble->held * (uint64_t)report_round_trip(record);

	return report_is_tcp(record) && trouble->held >= 3 && trouble->held_us > 2 * trips ? trouble->held_us - trips
											   : 0;
}

static uint64_t
report_measure_held(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_held_us(record, REPORT_CLIENT) + report_held_us(record, REPORT_SERVER);
}

void
report_find_held(struct report_finding *finding, const struct report_facts *facts)
{
	struct report_gathered found = report_gather(finding, facts, report_measure_held, REPORT_EVENTS);
	const char *sender, *receiver;
	uint64_t held = 0;
	unsigned e;

	if (found.count == 0)
		return;
	e = report_held_us(found.worst, REPORT_SERVER) != 0 ? REPORT_SERVER : REPORT_CLIENT;
	for (size_t i = 0; i < facts->count; i++)
		if (report_held_us(&facts->list[i], e) != 0)
			held += report_trouble(&facts->list[i].ends[e])->held;
	for (size_t i = 0; i < finding->evidence_count; i++)
		report_set_packet(&finding->evidence[i],
				  report_trouble(&facts->list[finding->evidence[i].record].ends[e])->held_packet);
	sender = e == REPORT_SERVER ? "server" : "client";
	receiver = e == REPORT_SERVER ? "client" : "server";
	finding->side = sender;
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "Nagle's algorithm meets delayed ACKs: on %" PRIu64 " connection%s with ", found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding,
		     " the %s held back data %" PRIu64
		     " times until the %s acknowledged the small segment before, about ",
		     sender, held, receiver);
	report_write_time(finding, found.sum / held);
	report_write(finding, " late, ");
	report_write_time(finding, found.sum);
	report_write(finding, " in all: its program should write a message at once, or set TCP_NODELAY.");
}

/* ------------------------------------------------------------------------------------------- readers and senders */

static uint64_t
report_measure_reader(const struct report_record *record, unsigned end)
{
	uint64_t us = record->waits.window[end], closed = report_trouble(&record->ends[end])->longest_us;

	if (us < closed) /* it stays closed after the last packet, until the capture ends */
		us = closed;
	return report_is_tcp(record) && us >= WAIT_MIN_US && record->ends[end].zero_windows != 0 ? us : 0;
}

static uint64_t
report_measure_reader_client(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_measure_reader(record, REPORT_CLIENT);
}

static uint64_t
report_measure_reader_server(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_measure_reader(record, REPORT_SERVER);
}

static void
report_write_reader(struct report_finding *finding, const struct report_facts *facts, unsigned end,
		    report_measure measure)
{
	struct report_gathered found = report_gather(finding, facts, measure, REPORT_ZERO_WINDOW);
	const char *side = end == REPORT_CLIENT ? "client" : "server";

	if (found.count == 0)
		return;
	for (size_t e = 0; e < finding->evidence_count; e++) {
		const struct report_record *record = &facts->list[finding->evidence[e].record];

		if (report_trouble(&record->ends[end])->longest_packet != 0)
			report_set_packet(&finding->evidence[e], report_trouble(&record->ends[end])->longest_packet);
	}
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "The %s reads too slowly: %" PRIu64 " transfer%s waited ", side, found.count,
		     report_plural(found.count));
	report_write_time(finding, found.sum);
	report_write(finding, " for the receive window of %s port %u to open; the program there does not read.",
		     found.worst->ends[end].address, found.worst->ends[end].port);
}

void
report_find_slow_reader_client(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_reader(finding, facts, REPORT_CLIENT, report_measure_reader_client);
}

void
report_find_slow_reader_server(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_reader(finding, facts, REPORT_SERVER, report_measure_reader_server);
}

static uint64_t
report_measure_sender(const struct report_record *record, unsigned end)
{
	uint64_t us = record->waits.sending[end], sent = us + record->waits.network;

	return report_is_tcp(record) && us >= 1000000 && !report_is_queued(record, end) &&
		       record->ends[end].bytes >= SLOW_SENDER_BYTES &&
		       record->ends[end].bytes * 1000000 / sent < SLOW_SENDER_RATE
		   ? us
		   : 0;
}

static uint64_t
report_measure_sender_client(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_measure_sender(record, REPORT_CLIENT);
}

static uint64_t
report_measure_sender_server(const struct report_facts *facts, const struct report_record *record)
{
	(void)facts;
	return report_measure_sender(record, REPORT_SERVER);
}

static void
report_write_sending(struct report_finding *finding, const struct report_facts *facts, unsigned end,
		     report_measure measure)
{
	struct report_gathered found = report_gather(finding, facts, measure, REPORT_EVENTS);
	const char *side = end == REPORT_CLIENT ? "client" : "server";

	if (found.count == 0)
		return;
	finding->count = found.count;
	finding->cost_us = finding->waited_us = found.sum;
	report_write(finding, "The %s sends slowly: %" PRIu64 " transfer%s with ", side, found.count,
		     report_plural(found.count));
	report_write_where(finding, &found);
	report_write(finding, " paused for ");
	report_write_time(finding, found.sum);
	report_write(finding, " because the program of the %s had nothing to send, at most ", side);
	report_write_time(finding, found.worst->pause_max_us);
	report_write(finding, " at a time, although window and network would have taken more.");
}

void
report_find_slow_sender_client(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_sending(finding, facts, REPORT_CLIENT, report_measure_sender_client);
}

void
report_find_slow_sender_server(struct report_finding *finding, const struct report_facts *facts)
{
	report_write_sending(finding, facts, REPORT_SERVER, report_measure_sender_server);
}
