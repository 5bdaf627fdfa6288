/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_verdict.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handshake or an answer is slow from here on, us; the live page has the same limits. */
#define SLOW_HANDSHAKE_US 250000
#define SLOW_ANSWER_US	  500000

/* A window that is closed for so long, us, is a fault of the program that reads; fast transfers close it for less. */
#define SLOW_READER_US 200000u

/* A client is slow if its server used less than a tenth of a connection of this duration, us. */
#define SLOW_CLIENT_US 1000000u

/* A pause in all traffic of the capture that is worth a sentence, ns. */
#define GAP_NS 5000000000u

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
		sentence->evidence[e].frame = report_capture_event(capture, &list[sentence->evidence[e].record], event);
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
	uint64_t count = report_gather(sentence, capture, report_is_unanswered, REPORT_EVENTS);

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
	uint64_t count = report_gather(sentence, capture, report_measure_handshake, REPORT_RESENT);
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
	return record->answer_max_us >= SLOW_ANSWER_US ? (uint64_t)record->answer_max_us : 0;
}

static void
report_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_answer, REPORT_EVENTS);
	uint64_t lossy = report_count_both(capture, report_measure_answer, report_measure_resent);
	int64_t longest = 0;

	sentence->topic = "slow-server";
	sentence->weight = 30 * count;
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].answer_max_us > longest)
			longest = capture->records.list[i].answer_max_us;
	}
	if (count == 0) {
		report_write_longest(sentence, "answer", "No server took 500 ms or longer for an answer",
				     (uint64_t)longest);
		return;
	}
	report_write(sentence, "Answers were slow on %llu connection%s: one took 500 ms or longer, the longest ",
		     report_say(count), report_plural(count));
	report_write_time(sentence, (uint64_t)longest);
	report_write_worst(sentence, capture, "; for example of ");
	report_write(sentence, ".");
	if (lossy > 0)
		report_write(sentence,
			     " Segments were sent again on %llu of these, whose time may be that of the network.",
			     report_say(lossy));
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

static uint64_t
report_measure_windows(const struct report_record *record)
{
	return (record->ends[REPORT_CLIENT].zero_windows + record->ends[REPORT_SERVER].zero_windows) *
	       (1 + record->zero_window_us);
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
	}
	sentence->weight = (longest >= SLOW_READER_US ? 15 : 1) * (client + server);
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
	report_write(sentence, longest >= SLOW_READER_US
				   ? " on one connection: the program at that end reads too slowly."
				   : " on one connection, which is short.");
}

static void
report_dns(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = capture->dns.queries;

	sentence->topic = "dns";
	sentence->weight = 40 * count;
	if (count == 0) {
		report_write(sentence, "No DNS query timed out without an answer.");
		return;
	}
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_end *ends = capture->records.list[i].ends;

		if (ends[REPORT_CLIENT].cid == capture->dns.cid || ends[REPORT_SERVER].cid == capture->dns.cid) {
			sentence->evidence[0].record = i;
			sentence->evidence_count = 1;
			break;
		}
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

/* The faults of the capture itself, so that they are not taken for faults of the network. */
static void
report_gaps(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t one_way = report_gather(sentence, capture, report_is_one_way, REPORT_EVENTS);
	uint64_t unreadable = capture->damaged + capture->unsupported;
	uint64_t faults = capture->dropped + one_way + unreadable + capture->midstream;
	bool silent = capture->volume.gap >= GAP_NS;

	sentence->topic = "capture";
	sentence->weight = 25 * (capture->dropped + one_way) + 5 * unreadable + capture->midstream + silent;
	if (capture->status != 0) {
		sentence->weight += 1000000;
		report_write(sentence,
			     "The capture is damaged or incomplete, and this page ends where it breaks off. ");
	}
	if (capture->frames.count == 0) {
		sentence->weight += 1000000;
		report_write(sentence, "There is no packet: nothing was captured, or nothing passes the filter.");
	} else if (faults > 0) {
		report_write(sentence, "The capture itself has gaps, which are no fault of the network");
		report_write_part(sentence, capture->dropped, "frame was dropped", "frames were dropped");
		report_write_part(sentence, capture->midstream, "connection began before it",
				  "connections began before it");
		report_write_part(sentence, one_way, "connection shows one direction only",
				  "connections show one direction only");
		report_write_part(sentence, unreadable, "frame cannot be read", "frames cannot be read");
		report_write(sentence, ".");
	} else if (capture->status == 0) {
		report_write(sentence,
			     "The capture itself has no gap: no frame is missing and every connection begins in it.");
	}
	if (capture->truncated > 0)
		report_write(sentence, " %llu packet%s cut by the snapshot length.", report_say(capture->truncated),
			     capture->truncated == 1 ? " is" : "s are");
	if (silent)
		report_write(sentence, " It is silent for %.1f s before packet %llu.",
			     (double)capture->volume.gap / 1e9, report_say(capture->volume.gap_at));
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
	    report_gaps,    report_no_answer,  report_refused, report_resets,	       report_dns,
	    report_answers, report_handshakes, report_windows, report_retransmissions, report_clients};

	for (size_t i = 0; i < REPORT_SENTENCES; i++) {
		memset(&sentences[i], 0, sizeof(sentences[i]));
		sentences[i].order = i;
		make[i](&sentences[i], capture);
	}
	qsort(sentences, REPORT_SENTENCES, sizeof(*sentences), report_sentence_compare);
}
