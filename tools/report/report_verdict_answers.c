/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_verdict.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------- slow answers */

/* The sentence on slow servers: answers by what their time is known to be (report_detail.h), and late greetings. */
#include "tools/report/report_verdict.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t
report_measure_answer(const struct report_record *record)
{
	int64_t us = report_record_server_us(record);

	return us >= REPORT_SLOW_ANSWER_US ? (uint64_t)us : 0;
}

/* The time of another kind, if it is long and no request is known to have waited long for the server. */
static uint64_t
report_measure_kind(const struct report_record *record, enum report_answer_kind kind)
{
	int64_t us = report_record_answer_is_found(record) ? record->answers[kind].server_us : 0;

	return us >= REPORT_SLOW_ANSWER_US && report_measure_answer(record) == 0 && record->greeting_us == 0
		   ? (uint64_t)us
		   : 0;
}

static uint64_t
report_measure_reaction(const struct report_record *record)
{
	return report_measure_kind(record, REPORT_ANSWER_REACTION);
}

static uint64_t
report_measure_unacknowledged(const struct report_record *record)
{
	return report_measure_reaction(record) == 0 ? report_measure_kind(record, REPORT_ANSWER_UNACKNOWLEDGED) : 0;
}

/* The time of a slow answer whose packets were not found. */
static uint64_t
report_unfound_us(const struct report_record *record)
{
	return report_record_has_answers(record) && record->answer_max_us >= REPORT_SLOW_ANSWER_US &&
		       !report_record_answer_is_found(record)
		   ? (uint64_t)record->answer_max_us
		   : 0;
}

/* The time of a slow answer that is not found, because the capture lacks data before it; otherwise 0. */
static uint64_t
report_measure_hole(const struct report_record *record)
{
	if (record->missing > 0 && report_unfound_us(record) > 0)
		return report_unfound_us(record);
	return report_measure_reaction(record) == 0 && report_measure_unacknowledged(record) == 0
		   ? report_measure_kind(record, REPORT_ANSWER_HOLE)
		   : 0;
}

static uint64_t
report_measure_unfound(const struct report_record *record)
{
	return record->missing == 0 ? report_unfound_us(record) : 0;
}

/* The time of an answer that was slow only because it or its request was lost. */
static uint64_t
report_measure_lost_answer(const struct report_record *record)
{
	return report_record_answer_is_found(record) && report_measure_answer(record) == 0 &&
		       record->greeting_us == 0 && report_measure_reaction(record) == 0 &&
		       report_measure_unacknowledged(record) == 0 && report_measure_hole(record) == 0
		   ? (uint64_t)record->answer_max_us
		   : 0;
}

static uint64_t
report_measure_greeting(const struct report_record *record)
{
	return report_measure_answer(record) == 0 ? record->greeting_us : 0;
}

/* Names the packets of the answers in the evidence from `first` on, where they are known.  Each link goes to the
 * answer, after the pause. */
static void
report_set_answers(struct report_sentence *sentence, size_t first, const struct report_capture *capture,
		   enum report_answer_kind kind)
{
	for (size_t e = first; e < sentence->evidence_count; e++) {
		struct report_evidence *evidence = &sentence->evidence[e];
		const struct report_record *record = &capture->records.list[evidence->record];
		const struct report_answer *answer;
		char sent_again[48] = "";
		uint64_t copy;

		if (!report_record_answer_is_found(record))
			continue;
		answer = &record->answers[kind];
		copy = answer->last_copy;
		if (copy > 0)
			snprintf(sent_again, sizeof(sent_again), " and again in packet %" PRIu64, copy);
		evidence->frame = answer->answer;
		snprintf(evidence->text, sizeof(evidence->text),
			 "request in packet %" PRIu64 "%s, answer%s in packet %" PRIu64,
			 answer->request, sent_again, answer->again ? " sent again" : "",
			 evidence->frame);
	}
}

/* Adds evidence after that of the sentence, up to REPORT_EVIDENCE. */
static void
report_add_evidence(struct report_sentence *sentence, const struct report_sentence *more)
{
	for (size_t e = 0; e < more->evidence_count && sentence->evidence_count < REPORT_EVIDENCE; e++)
		sentence->evidence[sentence->evidence_count++] = more->evidence[e];
}

/* Gathers the connections with slow answers of this kind into the sentence, after those of other kinds.  How many
 * there are; `longest`: the time, us. */
static uint64_t
report_gather_answers(struct report_sentence *sentence, const struct report_capture *capture, report_measure measure,
		      enum report_answer_kind kind, uint64_t *longest)
{
	struct report_sentence found = {0};
	uint64_t count = report_gather(&found, capture, measure, REPORT_EVENTS);
	size_t first = sentence->evidence_count;

	*longest = count > 0 ? measure(&capture->records.list[found.evidence[0].record]) : 0;
	report_add_evidence(sentence, &found);
	report_set_answers(sentence, first, capture, kind);
	return count;
}

/* Servers that send first, and late.  How many there are. */
static uint64_t
report_greetings(struct report_sentence *sentence, const struct report_capture *capture)
{
	struct report_sentence late = {0};
	uint64_t count = report_gather(&late, capture, report_measure_greeting, REPORT_GREETING);

	if (count == 0)
		return 0;
	report_write(sentence,
		     "%sOn %" PRIu64
		     " connection%s nothing came from the server, which sends first, for 500 ms or longer after "
		     "the handshake; the longest time was ",
		     report_space(sentence), count, report_plural(count));
	report_write_time(sentence, capture->records.list[late.evidence[0].record].greeting_us);
	report_write_worst(&late, capture, ", of ");
	report_write(sentence, "%s.", late.text);
	report_add_evidence(sentence, &late);
	return count;
}

/* Writes how many connections there are, what happens on them, and the longest time of that. */
static void
report_write_up_to(struct report_sentence *sentence, uint64_t count, const char *other, const char *what,
		   uint64_t longest)
{
	report_write(sentence, " On %" PRIu64 "%s connection%s %s %s", count, other, report_plural(count), what,
		     count > 1 ? "up to " : "");
	report_write_time(sentence, longest);
}

/* Answers that were slow, perhaps or certainly not because of the server. */
static void
report_other_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	const char *other = sentence->evidence_count > 0 ? " other" : "";
	uint64_t longest;
	uint64_t count =
	    report_gather_answers(sentence, capture, report_measure_reaction, REPORT_ANSWER_REACTION, &longest);

	sentence->weight += 3 * count;
	if (count > 0) {
		report_write_up_to(sentence, count, other, "nothing came from the server for", longest);
		report_write(sentence, " after a short reply of the client to its data, which may need no answer (to a "
				       "heartbeat, for example).");
	}
	count = report_gather_answers(sentence, capture, report_measure_unacknowledged, REPORT_ANSWER_UNACKNOWLEDGED,
				      &longest);
	sentence->weight += 10 * count;
	if (count > 0) {
		report_write_up_to(sentence, count, other, "nothing came from the server for", longest);
		report_write(sentence,
			     ", not even an ACK, after a request that was sent again: what it sent was lost, or "
			     "the last copy, too.");
	}
	count = report_gather_answers(sentence, capture, report_measure_hole, REPORT_ANSWER_HOLE, &longest);
	if (count > 0)
		report_write(sentence,
			     " On %" PRIu64 "%s connection%s the capture lacks data that the server sent in a pause of "
			     "500 ms or longer, perhaps the answer.",
			     count, other, report_plural(count));
	count = report_gather_answers(sentence, capture, report_measure_lost_answer, REPORT_ANSWER_WAITED, &longest);
	if (count > 0) {
		report_write(sentence,
			     " On %" PRIu64 " connection%s an answer took that long only because it or its request was "
			     "sent again, the longest ",
			     count, report_plural(count));
		report_write_time(sentence, longest);
		report_write(sentence, ": that is the time of the network.");
	}
	count = report_gather_answers(sentence, capture, report_measure_unfound, REPORT_ANSWER_WAITED, &longest);
	sentence->weight += 10 * count;
	if (count > 0) {
		report_write_up_to(sentence, count, other, "an answer took", longest);
		report_write(sentence,
			     ", perhaps the time of the network: its packets were not searched for, or not found.");
	}
}

/* No server is slow, as far as is known. */
static void
report_quick_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t longest = 0;
	bool known = true;

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];
		int64_t us = report_record_server_us(record);

		known = known && record->queued_us < REPORT_SLOW_ANSWER_US &&
			!(report_record_has_answers(record) && record->answer_max_us >= REPORT_SLOW_ANSWER_US);
		longest = us > (int64_t)longest ? (uint64_t)us : longest;
	}
	report_write_longest(sentence, "answer",
			     known ? "No server took 500 ms or longer for an answer"
				   : "No server is known to have taken 500 ms or longer for an answer",
			     longest);
}

void
report_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t longest, late;
	uint64_t count =
	    report_gather_answers(sentence, capture, report_measure_answer, REPORT_ANSWER_SERVER, &longest);

	sentence->topic = "slow-server";
	if (count > 0) {
		report_write(sentence,
			     "On %" PRIu64
			     " connection%s nothing came from the server for 500 ms or longer after data of the "
			     "client; the longest time was ",
			     count, report_plural(count));
		report_write_time(sentence, longest);
		report_write_worst(sentence, capture, ", of ");
		report_write(sentence, ".");
	}
	late = report_greetings(sentence, capture);
	sentence->weight = 30 * (count + late);
	if (count + late == 0)
		report_quick_answers(sentence, capture);
	report_other_answers(sentence, capture);
}

/* ------------------------------------------------------------------------------------------ requests without answer */

/* A client is slow if its server used less than a tenth of a connection of this duration, us. */
#define SLOW_CLIENT_US 1000000u

/* The time for which a request waits for an answer that never comes. */
static uint64_t
report_measure_open_request(const struct report_record *record)
{
	return record->open_request.packet != 0 ? 1 + record->open_request.us : 0;
}

/* The end of the connection of an open request, in words. */
static const char *
report_open_request_end(const struct report_record *record)
{
	bool server = record->open_request.end == REPORT_SERVER;

	if (!record->open_request.closed)
		return record->reason == REPORT_CAPTURE_END ? "the capture ended" : "the connection ended";
	if (record->reason == REPORT_RESET_CLIENT || record->reason == REPORT_RESET_SERVER)
		return server ? "the server reset the connection" : "the client reset the connection";
	return server ? "the server closed the connection" : "the client closed the connection";
}

void
report_unanswered_requests(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_open_request, REPORT_EVENTS);
	const struct report_record *list = capture->records.list;

	sentence->topic = "open-request";
	sentence->weight = 50 * count;
	if (count == 0)
		return;
	report_write(sentence, "%" PRIu64 " request%s never answered: the server received %s and sent nothing", count,
		     count == 1 ? " was" : "s were", count == 1 ? "it" : "them");
	report_write_worst(sentence, capture, "; for example by ");
	report_write(sentence, ", where %s after ", report_open_request_end(&list[sentence->evidence[0].record]));
	report_write_time(sentence, list[sentence->evidence[0].record].open_request.us);
	report_write(sentence, ".");
	for (size_t e = 0; e < sentence->evidence_count; e++)
		report_set_packet(&sentence->evidence[e],
				  list[sentence->evidence[e].record].open_request.packet);
}

static uint64_t
report_measure_silence(const struct report_record *record)
{
	return record->silence.us;
}

void
report_silent(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_silence, REPORT_EVENTS);
	const struct report_record *list = capture->records.list, *worst;
	const struct report_rejection *rejection;

	sentence->topic = "silent";
	sentence->weight = 50 * count;
	if (count == 0)
		return;
	worst = &list[sentence->evidence[0].record];
	report_write(sentence,
		     "%" PRIu64 " connection%s fell silent: what was sent last had no acknowledgement. The %s %s port "
		     "%u, for example, was sent %" PRIu64 " retransmissions in ",
		     count, report_plural(count), worst->silence.end == REPORT_CLIENT ? "server" : "client",
		     worst->ends[1 - worst->silence.end].address, worst->ends[1 - worst->silence.end].port,
		     worst->silence.repeats);
	report_write_time(sentence, worst->silence.us);
	report_write(sentence, " and did not answer");
	rejection = &report_trouble(&worst->ends[worst->silence.end])->rejection;
	if (rejection->version != 0)
		report_write_rejection(sentence, rejection, "; one was rejected by ");
	else if (worst->silence.too_big != 0)
		report_write(sentence,
			     ": packet %" PRIu64 ", an ICMP error, says that a packet was too big for the path",
			     worst->silence.too_big);
	else
		report_write(sentence, ", or the path to it is interrupted");
	report_write(sentence, ".");
	for (size_t e = 0; e < sentence->evidence_count; e++)
		report_set_packet(&sentence->evidence[e],
				  list[sentence->evidence[e].record].silence.packet);
}

/* The time of a connection whose server was quick. */
static uint64_t
report_measure_client(const struct report_record *record)
{
	uint64_t answers = record->exchanges * (uint64_t)record->answer_mean_us;

	if (record->protocol != IPPROTO_TCP || record->exchanges == 0 ||
	    report_record_server_us(record) >= REPORT_SLOW_ANSWER_US || record->open_request.packet != 0 ||
	    record->duration_us < SLOW_CLIENT_US || record->greeting_us >= record->duration_us / 10 ||
	    record->queued_us >= record->duration_us / 10 || answers >= record->duration_us / 10)
		return 0;
	return record->duration_us;
}

void
report_clients(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_client, REPORT_EVENTS);

	sentence->topic = "slow-client";
	if (count == 0) {
		report_write(sentence, "On no connection of 1 s or longer is the client known to be the slow end.");
		return;
	}
	report_write(sentence,
		     "On %" PRIu64 " connection%s of 1 s or longer the server needed less than a tenth of the time "
		     "for its answers: the rest is handshake, waiting for the client, transfer, or idle.",
		     count, report_plural(count));
}

/* The index of the record with an end of this connection id; the number of records if there is none. */
static size_t
report_find_record(const struct report_capture *capture, uint64_t cid)
{
	size_t i = 0;

	for (; i < capture->records.count; i++) {
		const struct report_end *ends = capture->records.list[i].ends;

		if (ends[REPORT_CLIENT].cid == cid || ends[REPORT_SERVER].cid == cid)
			break;
	}
	return i;
}

void
report_dns(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = capture->dns.count;
	bool one_way = report_capture_is_one_way(capture);

	sentence->topic = "dns";
	sentence->weight = one_way ? count : 40 * count;
	if (count == 0) {
		report_write(sentence, "No DNS query timed out without an answer.");
		return;
	}
	for (size_t i = 0; i < REPORT_EVIDENCE && i < count; i++) {
		const struct report_query *query = &capture->dns.first[i];
		struct report_evidence *evidence = &sentence->evidence[sentence->evidence_count];

		evidence->record = report_find_record(capture, query->cid);
		report_set_packet(evidence, query->packet);
		sentence->evidence_count += evidence->record < capture->records.count;
	}
	report_write(sentence, "%" PRIu64 " DNS quer%s not answered in time", count, count == 1 ? "y was" : "ies were");
	if (one_way)
		report_write(sentence, ", perhaps because the capture has one direction only, as of TCP");
	report_write_worst(sentence, capture, "; the first by ");
	if (sentence->evidence_count > 0) {
		const struct report_record *first = &capture->records.list[sentence->evidence[0].record];

		report_write_rejection(sentence,
				       &report_trouble(&first->ends[REPORT_CLIENT])->rejection,
				       ", rejected by ");
	}
	report_write(sentence, ".");
}

/* -------------------------------------------------------------------------------------- windows and retransmissions */

/* The segments of the connection that were sent again. */
static uint64_t
report_measure_resent(const struct report_record *record)
{
	return record->ends[REPORT_CLIENT].resent + record->ends[REPORT_SERVER].resent;
}

void
report_retransmissions(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_resent, REPORT_RESENT);
	uint64_t client = 0, server = 0, fast = 0, timeout = 0, probe = 0, spurious = 0, syn = 0;

	sentence->topic = "retransmissions";
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];

		client += record->ends[REPORT_CLIENT].resent;
		server += record->ends[REPORT_SERVER].resent;
		fast += record->resent_fast;
		timeout += record->resent_timeout;
		probe += record->resent_probe;
		spurious += record->resent_spurious;
		syn += record->resent_syn;
	}
	sentence->weight = 10 * timeout + 5 * syn + 2 * (fast + probe) + spurious;
	if (count == 0) {
		report_write(sentence, "Nothing was sent again.");
		return;
	}
	report_write(sentence,
		     "%" PRIu64 " segment%s sent again on %" PRIu64 " connection%s, %" PRIu64 " by clients and %" PRIu64
		     " by servers",
		     client + server, client + server == 1 ? " was" : "s were", count, report_plural(count), client,
		     server);
	report_write_part(sentence, timeout, "after a timeout", "after a timeout");
	report_write_part(sentence, fast, "fast retransmission (before a timeout could expire)",
			  "fast retransmissions (before a timeout could expire)");
	report_write_part(sentence, probe, "as tail-loss probe", "as tail-loss probes");
	report_write_part(sentence, syn, "SYN or SYN-ACK", "SYN or SYN-ACK");
	report_write_part(sentence, spurious, "unneeded, because it was acknowledged already",
			  "unneeded, because they were acknowledged already");
	report_write(sentence, ".");
}

/* The longer of the times for which the windows of a record are not opened again; 0: no window stays closed. */
static uint64_t
report_measure_stuck(const struct report_record *record)
{
	uint64_t client = report_trouble(&record->ends[REPORT_CLIENT])->stuck_us;
	uint64_t server = report_trouble(&record->ends[REPORT_SERVER])->stuck_us;
	uint64_t us = client > server ? client : server;

	return us >= REPORT_SLOW_READER_US ? us : 0;
}

static uint64_t
report_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The time for which the windows of a record were closed in all, us; the longest time if that is unknown. */
static uint64_t
report_measure_closed(const struct report_record *record)
{
	return report_larger(report_trouble(&record->ends[REPORT_CLIENT])->closed_us +
				 report_trouble(&record->ends[REPORT_SERVER])->closed_us,
			     record->zero_window_us);
}

/* How slowly a record reads: by the longest time that its windows were closed, or, if that is short, by all times. */
static uint64_t
report_measure_reader(const struct report_record *record)
{
	uint64_t longest = report_larger(record->zero_window_us, report_measure_stuck(record));

	if (record->ends[REPORT_CLIENT].zero_windows + record->ends[REPORT_SERVER].zero_windows == 0)
		return 0;
	return longest >= REPORT_SLOW_READER_US ? (1ull << 62) + longest : 1 + report_measure_closed(record);
}

/* Windows that stay closed come first. */
static uint64_t
report_measure_windows(const struct report_record *record)
{
	uint64_t reader = report_measure_reader(record);

	return reader > 0 && report_measure_stuck(record) > 0 ? (1ull << 63) + report_measure_stuck(record) : reader;
}

/* The end whose window was closed longest; NULL if both have closed theirs and the detail lacks the longest time. */
static const struct report_end *
report_slowest_end(const struct report_record *record)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];
	bool slower = report_trouble(server)->longest_us > report_trouble(client)->longest_us;
	const struct report_end *longest = slower ? server : client;

	if (client->zero_windows == 0 || server->zero_windows == 0)
		return client->zero_windows == 0 ? server : client;
	return report_trouble(longest)->longest_us + 1 >= record->zero_window_us ? longest : NULL;
}

/* The end whose window stays closed longer. */
static const struct report_end *
report_stuck_end(const struct report_record *record)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];

	return report_trouble(server)->stuck_us > report_trouble(client)->stuck_us ? server : client;
}

/* Names the windows that are not opened again, `clients` and `servers` of them. */
static void
report_write_stuck(struct report_sentence *sentence, const struct report_record *worst, uint64_t clients,
		   uint64_t servers)
{
	const struct report_end *end = report_stuck_end(worst);
	const char *side = end == &worst->ends[REPORT_CLIENT] ? "client" : "server";

	if (clients + servers == 1)
		report_write(sentence, " One was not opened again");
	else
		report_write(sentence,
			     " %" PRIu64 " were not opened again, %" PRIu64 " of clients and %" PRIu64 " of servers",
			     clients + servers, clients, servers);
	report_write(sentence, ": the program of the %s %s port %u has stopped reading, ", side, end->address,
		     end->port);
	report_write_time(sentence, report_trouble(end)->stuck_us);
	report_write(sentence, " before the end.");
}

/* The windows that are not opened again, and their packets. */
static void
report_stuck_windows(struct report_sentence *sentence, const struct report_capture *capture)
{
	const struct report_record *list = capture->records.list;
	uint64_t count[REPORT_ENDS] = {0};

	for (size_t i = 0; i < capture->records.count; i++) {
		for (size_t e = 0; e < REPORT_ENDS; e++)
			count[e] += report_trouble(&list[i].ends[e])->stuck_us >= REPORT_SLOW_READER_US;
	}
	if (count[REPORT_CLIENT] + count[REPORT_SERVER] == 0)
		return;
	sentence->weight += 40 * (count[REPORT_CLIENT] + count[REPORT_SERVER]);
	report_write_stuck(sentence, &list[sentence->evidence[0].record], count[REPORT_CLIENT], count[REPORT_SERVER]);
}

/* Links to the segments that closed the windows for good or for longest. */
static void
report_link_windows(struct report_sentence *sentence, const struct report_capture *capture)
{
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		const struct report_record *record = &capture->records.list[sentence->evidence[e].record];
		const struct report_end *end = report_slowest_end(record);
		uint64_t packet = end != NULL ? report_trouble(end)->longest_packet : 0;

		if (report_measure_stuck(record) > 0)
			packet = report_trouble(report_stuck_end(record))->closed_packet;
		else if (end != NULL && report_trouble(end)->longest_us + 1 < record->zero_window_us)
			packet = 0; /* another closing, after the segments of the page, took longer */
		else if (packet == 0)
			continue;
		report_set_packet(&sentence->evidence[e], packet);
	}
}

/* The record of the program that reads most slowly, which is made the last of the evidence unless it is part of it. */
static const struct report_record *
report_slowest_reader(struct report_sentence *sentence, const struct report_capture *capture)
{
	struct report_sentence slowest = {0};
	size_t record;

	report_gather(&slowest, capture, report_measure_reader, REPORT_ZERO_WINDOW);
	record = slowest.evidence[0].record;
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		if (sentence->evidence[e].record == record)
			return &capture->records.list[record];
	}
	sentence->evidence[sentence->evidence_count - 1] = slowest.evidence[0];
	return &capture->records.list[record];
}

/* Names the program that keeps a window closed, or says that the time is short. */
static void
report_write_readers(struct report_sentence *sentence, const struct report_record *worst, uint64_t longest,
		     uint64_t closed_us)
{
	const struct report_end *end = report_slowest_end(worst);
	bool server = end == &worst->ends[REPORT_SERVER];

	if (report_measure_closed(worst) > longest) {
		report_write(sentence, ", and for ");
		report_write_time(sentence, report_measure_closed(worst));
		report_write(sentence, " in all on one connection");
	}
	if (longest < REPORT_SLOW_READER_US && closed_us < REPORT_SLOW_READER_US)
		report_write(sentence, ", which is short.");
	else if (end == NULL)
		report_write(sentence, ": a program of the connection with the server %s port %u reads too slowly.",
			     worst->ends[REPORT_SERVER].address, worst->ends[REPORT_SERVER].port);
	else
		report_write(sentence, ": the program of the %s %s port %u reads too slowly.",
			     server ? "server" : "client", end->address, end->port);
}

void
report_windows(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_windows, REPORT_ZERO_WINDOW);
	uint64_t client = 0, server = 0, longest = 0, closed_us = 0;

	sentence->topic = "zero-window";
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];

		client += record->ends[REPORT_CLIENT].zero_windows;
		server += record->ends[REPORT_SERVER].zero_windows;
		if (report_measure_windows(record) == 0)
			continue;
		longest = report_larger(longest, report_larger(record->zero_window_us, report_measure_stuck(record)));
		closed_us = report_larger(closed_us, report_measure_closed(record));
	}
	sentence->weight =
	    (longest >= REPORT_SLOW_READER_US || closed_us >= REPORT_SLOW_READER_US ? 15 : 1) * (client + server);
	if (count == 0) {
		report_write(sentence, "No receive window was closed.");
		return;
	}
	report_write(sentence,
		     "Receive windows were closed %" PRIu64 " time%s on %" PRIu64 " connection%s, %" PRIu64
		     " by clients and %" PRIu64 " by "
		     "servers, for at most ",
		     client + server, report_plural(client + server), count, report_plural(count), client, server);
	report_write_time(sentence, longest);
	report_write(sentence, " at a time");
	report_write_readers(sentence, report_slowest_reader(sentence, capture), longest, closed_us);
	report_stuck_windows(sentence, capture);
	report_link_windows(sentence, capture);
}
