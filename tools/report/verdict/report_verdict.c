/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_verdict.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handshake is slow from here on, us; the live page and the formula report-opening have the same limit. */
#define SLOW_HANDSHAKE_US 250000

/* A client is slow if its server used less than a tenth of a connection of this duration, us. */
#define SLOW_CLIENT_US 1000000u

/* A pause in all traffic of the capture that is worth a sentence, ns. */
#define GAP_NS 5000000000u

/* Duplicates are worth a sentence if there are at least so many, and one of so many packets. */
#define DUPLICATES_MIN	 3u
#define DUPLICATES_SHARE 10u

/* How much a record shows of what a sentence is about; 0: nothing. */
typedef uint64_t (*report_measure)(const struct report_record *record);

static void __attribute__((format(printf, 2, 3)))
report_write(struct report_sentence *sentence, const char *format, ...)
{
	size_t used = strlen(sentence->text);
	va_list list;

	va_start(list, format);
	vsnprintf(sentence->text + used, sizeof(sentence->text) - used, format, list);
	va_end(list);
}

static void
report_write_time(struct report_sentence *sentence, uint64_t us)
{
	if (us >= 1000000)
		report_write(sentence, "%.3f s", (double)us / 1e6);
	else
		report_write(sentence, "%.3f ms", (double)us / 1e3);
}

static unsigned long long
report_say(uint64_t number)
{
	return (unsigned long long)number;
}

/* The end of a noun behind a number. */
static const char *
report_plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

/* Appends a part of a list unless its count is 0; the first part follows a colon. */
static void
report_write_part(struct report_sentence *sentence, uint64_t count, const char *one, const char *many)
{
	const char *before = strchr(sentence->text, ':') == NULL ? ": " : ", ";

	if (count > 0)
		report_write(sentence, "%s%llu %s", before, report_say(count), count == 1 ? one : many);
}

/* Puts a record among the evidence, which is sorted by amount, unless all of it shows more. */
static void
report_gather_record(struct report_sentence *sentence, size_t record, uint64_t amount, uint64_t *amounts)
{
	size_t place = sentence->evidence_count;

	if (place < REPORT_EVIDENCE)
		sentence->evidence_count++;
	else if (amount > amounts[place - 1])
		place--;
	else
		return;
	for (; place > 0 && amounts[place - 1] < amount; place--) {
		amounts[place] = amounts[place - 1];
		sentence->evidence[place] = sentence->evidence[place - 1];
	}
	amounts[place] = amount;
	sentence->evidence[place].record = record;
}

/* The evidence is this packet, unless the number of its frame is 0. */
static void
report_set_packet(struct report_evidence *evidence, uint64_t frame)
{
	evidence->frame = frame;
	if (frame > 0)
		snprintf(evidence->text, sizeof(evidence->text), "packet %llu", report_say(frame));
}

/* Counts the records that the measure finds; those that show most are the evidence. */
static uint64_t
report_gather(struct report_sentence *sentence, const struct report_capture *capture, report_measure measure,
	      enum report_event event)
{
	const struct report_record *list = capture->records.list;
	uint64_t amounts[REPORT_EVIDENCE], count = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		uint64_t amount = measure(&list[i]);

		if (amount == 0)
			continue;
		count++;
		report_gather_record(sentence, i, amount, amounts);
	}
	for (size_t e = 0; e < sentence->evidence_count; e++)
		report_set_packet(&sentence->evidence[e],
				  report_capture_event(capture, &list[sentence->evidence[e].record], event));
	return count;
}

/* How many of the records are found by both measures. */
static uint64_t
report_count_both(const struct report_capture *capture, report_measure one, report_measure other)
{
	uint64_t count = 0;

	for (size_t i = 0; i < capture->records.count; i++)
		count += one(&capture->records.list[i]) > 0 && other(&capture->records.list[i]) > 0;
	return count;
}

/* Names the server of the worst connection. */
static void
report_write_worst(struct report_sentence *sentence, const struct report_capture *capture, const char *before)
{
	const struct report_end *server;

	if (sentence->evidence_count == 0)
		return;
	server = &capture->records.list[sentence->evidence[0].record].ends[REPORT_SERVER];
	report_write(sentence, "%s%s port %u", before, server->address, server->port);
}

static uint64_t
report_is_refused(const struct report_record *record)
{
	return record->reason == REPORT_REFUSED;
}

static void
report_refused(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_refused, REPORT_RESET);

	sentence->topic = "refused";
	sentence->weight = 40 * count;
	if (count == 0) {
		report_write(sentence, "No connection was refused.");
		return;
	}
	report_write(sentence, "%llu connection%s refused: nothing listens there, or a firewall rejects them",
		     report_say(count), count == 1 ? " was" : "s were");
	report_write_worst(sentence, capture, "; for example by ");
	report_write(sentence, ".");
}

static uint64_t
report_is_reset_by_server(const struct report_record *record)
{
	return record->reason == REPORT_RESET_SERVER;
}

static uint64_t
report_is_reset(const struct report_record *record)
{
	return record->reason == REPORT_RESET_CLIENT || record->reason == REPORT_RESET_SERVER;
}

/* Closing and then refusing what the other end still sends is how many programs end. */
static uint64_t
report_is_reset_behind_fin(const struct report_record *record)
{
	unsigned end = record->reason == REPORT_RESET_CLIENT ? REPORT_CLIENT : REPORT_SERVER;

	return report_is_reset(record) && (record->ends[end].flags & REPORT_FLAG_FIN) != 0;
}

/* A client that answers the SYN-ACK with RST, as scanners do. */
static uint64_t
report_is_reset_half_open(const struct report_record *record)
{
	return record->reason == REPORT_RESET_CLIENT && record->opened &&
	       (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_ACK) == 0;
}

/* The evidence begins with those that a server has reset in the middle. */
static uint64_t
report_measure_reset(const struct report_record *record)
{
	uint64_t in_the_middle = report_is_reset_behind_fin(record) > 0 ? 0 : 2;

	return report_is_reset(record) > 0 ? 1 + in_the_middle + report_is_reset_by_server(record) : 0;
}

static void
report_resets(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_reset, REPORT_RESET);
	uint64_t by_server = report_count_both(capture, report_measure_reset, report_is_reset_by_server);
	uint64_t behind_fin = report_count_both(capture, report_measure_reset, report_is_reset_behind_fin);
	uint64_t server_behind_fin = report_count_both(capture, report_is_reset_by_server, report_is_reset_behind_fin);
	uint64_t half_open = report_count_both(capture, report_measure_reset, report_is_reset_half_open);

	sentence->topic = "reset";
	sentence->weight = 10 * (count - behind_fin) + 30 * (by_server - server_behind_fin) + behind_fin;
	if (count == 0) {
		report_write(sentence, "No connection was reset.");
		return;
	}
	report_write(sentence, "%llu connection%s reset, %llu by the client and %llu by the server", report_say(count),
		     count == 1 ? " was" : "s were", report_say(count - by_server), report_say(by_server));
	report_write_part(sentence, half_open, "before it was established", "before they were established");
	report_write_part(sentence, behind_fin, "behind the FIN of the same end, when it had closed",
			  "behind the FIN of the same end, when it had closed");
	report_write_worst(sentence, capture, "; for example with ");
	report_write(sentence, ".");
}

/* A single SYN at the end of a capture may have an answer behind it. */
static uint64_t
report_is_unanswered(const struct report_record *record)
{
	return record->reason == REPORT_NO_ANSWER || (report_record_is_attempt(record) && record->resent_syn > 0);
}

/* Whether the server of the worst connection answers on another one. */
static bool
report_worst_answers(const struct report_sentence *sentence, const struct report_capture *capture)
{
	const struct report_record *list = capture->records.list;
	const char *address = list[sentence->evidence[0].record].ends[REPORT_SERVER].address;

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_end *server = &list[i].ends[REPORT_SERVER];

		if (server->segments > 0 && strcmp(server->address, address) == 0)
			return true;
	}
	return false;
}

static void
report_no_answer(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_unanswered, REPORT_RESENT);

	sentence->topic = "no-answer";
	sentence->weight = 50 * count;
	if (count == 0) {
		report_write(sentence, "No connection attempt timed out or was repeated without an answer.");
		return;
	}
	report_write(sentence, "%llu connection attempt%s had no answer: the host is away, or a firewall drops them",
		     report_say(count), report_plural(count));
	report_write_worst(sentence, capture, "; for example to ");
	if (report_worst_answers(sentence, capture))
		report_write(sentence, ", an address that answers other connections");
	report_write(sentence, ".");
}

static uint64_t
report_measure_handshake(const struct report_record *record)
{
	return record->handshake_us >= SLOW_HANDSHAKE_US ? (uint64_t)record->handshake_us : 0;
}

/* Whether segments of the connection were sent again. */
static uint64_t
report_measure_resent(const struct report_record *record)
{
	return record->ends[REPORT_CLIENT].resent + record->ends[REPORT_SERVER].resent;
}

/* Nothing was slow; nothing may have been measured, either. */
static void
report_write_longest(struct report_sentence *sentence, const char *what, const char *none, uint64_t longest)
{
	if (longest == 0) {
		report_write(sentence, "No %s was measured.", what);
		return;
	}
	report_write(sentence, "%s; the longest took ", none);
	report_write_time(sentence, longest);
	report_write(sentence, ".");
}

static void
report_handshakes(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_handshake, REPORT_OPENED);
	int64_t longest = 0;

	sentence->topic = "handshake";
	sentence->weight = 20 * count;
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].handshake_us > longest)
			longest = capture->records.list[i].handshake_us;
	}
	if (count == 0) {
		report_write_longest(sentence, "handshake", "No handshake took 250 ms or longer", (uint64_t)longest);
		return;
	}
	report_write(sentence, "%llu handshake%s took 250 ms or longer, the longest ", report_say(count),
		     report_plural(count));
	report_write_time(sentence, (uint64_t)longest);
	report_write_worst(sentence, capture, "; for example to ");
	report_write(sentence, ".");
}

static uint64_t
report_measure_answer(const struct report_record *record)
{
	int64_t us = report_record_server_us(record);

	return us >= REPORT_SLOW_ANSWER_US ? (uint64_t)us : 0;
}

/* The time of an answer that was slow only because it or its request was lost. */
static uint64_t
report_measure_lost_answer(const struct report_record *record)
{
	return record->answer_max_us >= REPORT_SLOW_ANSWER_US && report_measure_answer(record) == 0
		   ? (uint64_t)record->answer_max_us
		   : 0;
}

/* Names the packets of an answer that was found.  The link goes to the answer, behind the pause. */
static void
report_set_answer(struct report_evidence *evidence, const struct report_capture *capture,
		  const struct report_answer *answer)
{
	unsigned long long copy = report_say(report_capture_frame(capture, answer->last_copy));
	char sent_again[48] = "";

	if (!report_record_is_examined(&capture->records.list[evidence->record]))
		return;
	if (copy > 0)
		snprintf(sent_again, sizeof(sent_again), " and again in packet %llu", copy);
	evidence->frame = report_capture_frame(capture, answer->answer);
	snprintf(evidence->text, sizeof(evidence->text), "request in packet %llu%s, answer%s in packet %llu",
		 report_say(report_capture_frame(capture, answer->request)), sent_again,
		 answer->again ? " sent again" : "", report_say(evidence->frame));
}

/* Names the answers whose time is that of the network, behind what is said of the servers. */
static void
report_lost_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	struct report_sentence lost = {0};
	uint64_t count = report_gather(&lost, capture, report_measure_lost_answer, REPORT_EVENTS);

	if (count == 0)
		return;
	report_write(sentence, " On %llu connection%s an answer took that long only because it or its request was "
			       "sent again, the longest ",
		     report_say(count), report_plural(count));
	report_write_time(sentence, report_measure_lost_answer(&capture->records.list[lost.evidence[0].record]));
	report_write(sentence, ": that is the time of the network.");
	for (size_t e = 0; e < lost.evidence_count && sentence->evidence_count < REPORT_EVIDENCE; e++) {
		struct report_evidence *evidence = &sentence->evidence[sentence->evidence_count++];

		*evidence = lost.evidence[e];
		report_set_answer(evidence, capture, &capture->records.list[evidence->record].waited);
	}
}

static void
report_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_answer, REPORT_EVENTS);
	const struct report_record *list = capture->records.list;
	int64_t longest = 0;

	sentence->topic = "slow-server";
	sentence->weight = 30 * count;
	for (size_t i = 0; i < capture->records.count; i++) {
		if (report_record_server_us(&list[i]) > longest)
			longest = report_record_server_us(&list[i]);
	}
	if (count == 0) {
		report_write_longest(sentence, "answer", "No server took 500 ms or longer for an answer",
				     (uint64_t)longest);
	} else {
		report_write(sentence, "Answers were slow on %llu connection%s: ", report_say(count),
			     report_plural(count));
		report_write(sentence, "one took 500 ms or longer, the longest ");
		report_write_time(sentence, (uint64_t)longest);
		report_write_worst(sentence, capture, "; for example of ");
		report_write(sentence, ".");
	}
	for (size_t e = 0; e < sentence->evidence_count; e++)
		report_set_answer(&sentence->evidence[e], capture, &list[sentence->evidence[e].record].server);
	report_lost_answers(sentence, capture);
}

/* The time of a connection whose server was quick. */
static uint64_t
report_measure_client(const struct report_record *record)
{
	uint64_t answers = record->exchanges * (uint64_t)record->answer_mean_us;

	if (record->protocol != IPPROTO_TCP || record->exchanges == 0 || report_measure_answer(record) > 0 ||
	    record->duration_us < SLOW_CLIENT_US || answers >= record->duration_us / 10)
		return 0;
	return record->duration_us;
}

static void
report_clients(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_client, REPORT_EVENTS);

	sentence->topic = "slow-client";
	sentence->weight = count;
	if (count == 0) {
		report_write(sentence, "On no connection of 1 s or longer was the client the slow end.");
		return;
	}
	report_write(sentence,
		     "On %llu connection%s of 1 s or longer the server needed less than a tenth of the time "
		     "for its answers: the rest is the handshake, the client's, the transfer, or a pause.",
		     report_say(count), report_plural(count));
}

static void
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
	report_write(sentence, "%llu segment%s sent again on %llu connection%s, %llu by clients and %llu by servers",
		     report_say(client + server), client + server == 1 ? " was" : "s were", report_say(count),
		     report_plural(count), report_say(client), report_say(server));
	report_write_part(sentence, timeout, "after a timeout", "after a timeout");
	report_write_part(sentence, fast, "fast", "fast");
	report_write_part(sentence, probe, "as tail-loss probe", "as tail-loss probes");
	report_write_part(sentence, syn, "SYN", "SYN");
	report_write_part(sentence, spurious, "needlessly", "needlessly");
	report_write(sentence, ".");
}

/* The longer of the times for which the windows of a record are not opened again; 0: none stays closed. */
static uint64_t
report_measure_stuck(const struct report_record *record)
{
	uint64_t client = record->ends[REPORT_CLIENT].stuck_us, server = record->ends[REPORT_SERVER].stuck_us;
	uint64_t us = client > server ? client : server;

	return us >= REPORT_SLOW_READER_US ? us : 0;
}

/* Windows that stay closed come first. */
static uint64_t
report_measure_windows(const struct report_record *record)
{
	uint64_t closed = record->ends[REPORT_CLIENT].zero_windows + record->ends[REPORT_SERVER].zero_windows;

	if (closed > 0 && report_measure_stuck(record) > 0)
		return (1ull << 63) + report_measure_stuck(record);
	return closed * (1 + record->zero_window_us);
}

/* The end whose window stays closed longer. */
static const struct report_end *
report_stuck_end(const struct report_record *record)
{
	return &record->ends[record->ends[REPORT_SERVER].stuck_us > record->ends[REPORT_CLIENT].stuck_us];
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
		report_write(sentence, " %llu were not opened again, %llu of clients and %llu of servers",
			     report_say(clients + servers), report_say(clients), report_say(servers));
	report_write(sentence, ": the program of the %s %s port %u has stopped reading, ", side, end->address,
		     end->port);
	report_write_time(sentence, end->stuck_us);
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
			count[e] += list[i].ends[e].stuck_us >= REPORT_SLOW_READER_US;
	}
	if (count[REPORT_CLIENT] + count[REPORT_SERVER] == 0)
		return;
	sentence->weight += 40 * (count[REPORT_CLIENT] + count[REPORT_SERVER]);
	report_write_stuck(sentence, &list[sentence->evidence[0].record], count[REPORT_CLIENT], count[REPORT_SERVER]);
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		const struct report_record *record = &list[sentence->evidence[e].record];

		if (report_measure_stuck(record) > 0)
			report_set_packet(&sentence->evidence[e],
					  report_capture_frame(capture, report_stuck_end(record)->closed_packet));
	}
}

static void
report_windows(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_windows, REPORT_ZERO_WINDOW);
	uint64_t client = 0, server = 0, longest = 0;

	sentence->topic = "zero-window";
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];

		client += record->ends[REPORT_CLIENT].zero_windows;
		server += record->ends[REPORT_SERVER].zero_windows;
		if (report_measure_windows(record) > 0 && record->zero_window_us > longest)
			longest = record->zero_window_us;
		if (report_measure_stuck(record) > longest)
			longest = report_measure_stuck(record);
	}
	sentence->weight = (longest >= REPORT_SLOW_READER_US ? 15 : 1) * (client + server);
	if (count == 0) {
		report_write(sentence, "No receive window was closed.");
		return;
	}
	report_write(sentence,
		     "Receive windows were closed %llu time%s on %llu connection%s, %llu by clients and %llu by "
		     "servers, for at most ",
		     report_say(client + server), report_plural(client + server), report_say(count),
		     report_plural(count), report_say(client), report_say(server));
	report_write_time(sentence, longest);
	report_write(sentence, longest >= REPORT_SLOW_READER_US
				   ? " on one connection: the program at that end reads too slowly."
				   : " on one connection, which is short.");
	report_stuck_windows(sentence, capture);
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

static void
report_dns(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = capture->dns.count;

	sentence->topic = "dns";
	sentence->weight = 40 * count;
	if (count == 0) {
		report_write(sentence, "No DNS query timed out without an answer.");
		return;
	}
	for (size_t i = 0; i < REPORT_EVIDENCE && i < count; i++) {
		const struct report_query *query = &capture->dns.first[i];
		struct report_evidence *evidence = &sentence->evidence[sentence->evidence_count];

		evidence->record = report_find_record(capture, query->cid);
		report_set_packet(evidence, report_capture_frame(capture, query->packet));
		sentence->evidence_count += evidence->record < capture->records.count;
	}
	report_write(sentence, "%llu DNS quer%s not answered in time", report_say(count),
		     count == 1 ? "y was" : "ies were");
	report_write_worst(sentence, capture, "; the first by ");
	report_write(sentence, ".");
}

static uint64_t
report_is_one_way(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP && record->reason != REPORT_NO_ANSWER &&
	       !report_record_is_attempt(record) &&
	       (record->ends[REPORT_CLIENT].segments == 0 || record->ends[REPORT_SERVER].segments == 0);
}

/* Bytes that ends acknowledge although the capture does not have them; on how many connections. */
static uint64_t
report_count_missing(const struct report_capture *capture, uint64_t *connections)
{
	uint64_t bytes = 0;

	*connections = 0;
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_end *ends = capture->records.list[i].ends;
		uint64_t missing = (uint64_t)report_ends_find(&capture->ends, ends[REPORT_CLIENT].cid)->missing +
				   report_ends_find(&capture->ends, ends[REPORT_SERVER].cid)->missing;

		bytes += missing;
		*connections += missing > 0;
	}
	return bytes;
}

/* What is missing in the capture.  Its weight, 0 if nothing is. */
static uint64_t
report_gaps(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t one_way = report_gather(sentence, capture, report_is_one_way, REPORT_EVENTS);
	uint64_t unreadable = capture->damaged + capture->unsupported, lossy;
	uint64_t missing = report_count_missing(capture, &lossy);

	if (capture->dropped + one_way + unreadable + capture->midstream + lossy == 0) {
		if (capture->status == 0)
			report_write(sentence, "The capture itself has no gap: no frame is missing and every "
					       "connection begins in it.");
		return 0;
	}
	report_write(sentence, "The capture itself has gaps, which are no fault of the network");
	report_write_part(sentence, capture->dropped, "frame was dropped", "frames were dropped");
	report_write_part(sentence, lossy, "connection lacks data", "connections lack data");
	if (lossy > 0)
		report_write(sentence, " (%llu byte%s that the receiver acknowledges)", report_say(missing),
			     report_plural(missing));
	report_write_part(sentence, capture->midstream, "connection began before it", "connections began before it");
	report_write_part(sentence, one_way, "connection shows one direction only",
			  "connections show one direction only");
	report_write_part(sentence, unreadable, "frame cannot be read", "frames cannot be read");
	report_write(sentence, ".");
	return 25 * (capture->dropped + one_way + lossy) + 5 * unreadable + capture->midstream;
}

/* Packets that the capture has twice.  The weight is more than what they may add to other sentences. */
static uint64_t
report_duplicated(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t packets = capture->duplicates.packets, copies = capture->duplicates.copies;
	unsigned percent = packets > 0 ? (unsigned)((100 * copies + packets / 2) / packets) : 0;

	if (copies < DUPLICATES_MIN || copies * DUPLICATES_SHARE < packets)
		return 0;
	if (percent >= 45 && percent <= 52)
		report_write(sentence, "About half of the packets are duplicates");
	else
		report_write(sentence, "About %u %% of the packets are duplicates", percent);
	report_write(sentence, ": a mirror port of both directions, or a capture on several interfaces, has them "
			       "twice. They are no retransmissions; the volumes below count them. ");
	return 100 + 10 * copies;
}

/* What else is wrong with the capture, behind its gaps.  The weight. */
static uint64_t
report_oddities(struct report_sentence *sentence, const struct report_capture *capture)
{
	const struct report_volume *volume = &capture->volume;
	bool silent = volume->gap >= GAP_NS;

	if (capture->truncated > 0)
		report_write(sentence, " %llu packet%s cut by the snapshot length.", report_say(capture->truncated),
			     capture->truncated == 1 ? " is" : "s are");
	if (silent)
		report_write(sentence, " It is silent for %.1f s before packet %llu.", (double)volume->gap / 1e9,
			     report_say(volume->gap_at));
	if (volume->stray == 1)
		report_write(sentence, " Packet %llu has a time stamp far from those around it, and is not on the "
				       "time axes.",
			     report_say(volume->stray_at));
	else if (volume->stray > 1)
		report_write(sentence, " %llu packets, packet %llu the first, have time stamps far from those around "
				       "them, and are not on the time axes.",
			     report_say(volume->stray), report_say(volume->stray_at));
	return silent + 5 * volume->stray;
}

/* The faults of the capture itself, so that they are not taken for faults of the network. */
static void
report_quality(struct report_sentence *sentence, const struct report_capture *capture)
{
	sentence->topic = "capture";
	if (capture->status != 0) {
		sentence->weight += 1000000;
		report_write(sentence,
			     "The capture is damaged or incomplete, and this page ends where it breaks off. ");
	}
	if (capture->frames.count == 0) {
		sentence->weight += 1000000;
		report_write(sentence, "There is no packet: nothing was captured, or nothing passes the filter.");
		return;
	}
	sentence->weight += report_duplicated(sentence, capture);
	sentence->weight += report_gaps(sentence, capture);
	sentence->weight += report_oddities(sentence, capture);
}

/* qsort(): most weight first, then the order in which they are made. */
static int
report_sentence_compare(const void *a, const void *b)
{
	const struct report_sentence *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void
report_verdict_make(struct report_sentence *sentences, const struct report_capture *capture)
{
	static void (*const make[REPORT_SENTENCES])(struct report_sentence *, const struct report_capture *) = {
	    report_quality, report_no_answer,  report_refused, report_resets,	       report_dns,
	    report_answers, report_handshakes, report_windows, report_retransmissions, report_clients};

	for (size_t i = 0; i < REPORT_SENTENCES; i++) {
		memset(&sentences[i], 0, sizeof(sentences[i]));
		sentences[i].order = i;
		make[i](&sentences[i], capture);
	}
	qsort(sentences, REPORT_SENTENCES, sizeof(*sentences), report_sentence_compare);
}
