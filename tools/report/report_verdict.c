/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOL_TCP 6u

/* A handshake or an answer is slow from here on, us. */
#define SLOW_HANDSHAKE_US 200000
#define SLOW_ANSWER_US	  500000

/* A client is slow if its server used less than a tenth of a connection of this duration, us. */
#define SLOW_CLIENT_US 1000000u

/* A pause in all traffic of the capture that is worth a sentence, ns. */
#define GAP_NS 5000000000u

typedef bool (*report_condition)(const struct report_record *record);

static void __attribute__((format(printf, 2, 3)))
report_write(struct report_sentence *sentence, const char *format, ...)
{
	size_t used = strlen(sentence->text);
	va_list list;

	va_start(list, format);
	vsnprintf(sentence->text + used, sizeof(sentence->text) - used, format, list);
	va_end(list);
}

static unsigned long long
report_say(uint64_t number)
{
	return (unsigned long long)number;
}

/* "connection" or "connections" */
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

/* Counts the records for which the condition is true; the first ones, which have most trouble, are the evidence. */
static uint64_t
report_gather(struct report_sentence *sentence, const struct report_capture *capture, report_condition condition,
	      enum report_event event)
{
	uint64_t count = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];
		struct report_evidence *evidence = &sentence->evidence[sentence->evidence_count];

		if (!condition(record))
			continue;
		count++;
		if (sentence->evidence_count == REPORT_EVIDENCE)
			continue;
		evidence->record = i;
		evidence->frame = report_capture_event(capture, record, event);
		sentence->evidence_count++;
	}
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

static bool
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

static bool
report_is_reset(const struct report_record *record)
{
	return record->reason == REPORT_RESET_CLIENT || record->reason == REPORT_RESET_SERVER;
}

static bool
report_is_reset_by_server(const struct report_record *record)
{
	return record->reason == REPORT_RESET_SERVER;
}

static void
report_resets(struct report_sentence *sentence, const struct report_capture *capture)
{
	struct report_sentence servers = {0};
	uint64_t count = report_gather(sentence, capture, report_is_reset, REPORT_RESET);
	uint64_t by_server = report_gather(&servers, capture, report_is_reset_by_server, REPORT_EVENTS);

	sentence->topic = "reset";
	sentence->weight = 10 * (count - by_server) + 40 * by_server;
	if (count == 0) {
		report_write(sentence, "No connection was reset.");
		return;
	}
	report_write(sentence, "%llu connection%s reset, %llu by the client and %llu by the server", report_say(count),
		     count == 1 ? " was" : "s were", report_say(count - by_server), report_say(by_server));
	report_write_worst(sentence, capture, "; for example with ");
	report_write(sentence, ".");
}

static bool
report_is_unanswered(const struct report_record *record)
{
	return record->reason == REPORT_NO_ANSWER;
}

static void
report_no_answer(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_unanswered, REPORT_EVENTS);

	sentence->topic = "no-answer";
	sentence->weight = 50 * count;
	if (count == 0) {
		report_write(sentence, "Every connection attempt had an answer.");
		return;
	}
	report_write(sentence, "%llu connection attempt%s had no answer: the host is away, or a firewall drops them",
		     report_say(count), report_plural(count));
	report_write_worst(sentence, capture, "; for example to ");
	report_write(sentence, ".");
}

static bool
report_is_slow_to_open(const struct report_record *record)
{
	return record->handshake_us >= SLOW_HANDSHAKE_US;
}

static void
report_handshakes(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_slow_to_open, REPORT_RESENT);
	int64_t longest = 0;

	sentence->topic = "handshake";
	sentence->weight = 20 * count;
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].handshake_us > longest)
			longest = capture->records.list[i].handshake_us;
	}
	if (count == 0) {
		report_write(sentence, "No handshake took 200 ms or longer; the longest took %.3f ms.",
			     (double)longest / 1e3);
		return;
	}
	report_write(sentence, "%llu handshake%s took 200 ms or longer, the longest %.3f s", report_say(count),
		     report_plural(count), (double)longest / 1e6);
	report_write_worst(sentence, capture, "; for example to ");
	report_write(sentence, ".");
}

static bool
report_is_slow_server(const struct report_record *record)
{
	return record->answer_max_us >= SLOW_ANSWER_US;
}

static void
report_answers(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_slow_server, REPORT_EVENTS);
	int64_t longest = 0;

	sentence->topic = "slow-server";
	sentence->weight = 30 * count;
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].answer_max_us > longest)
			longest = capture->records.list[i].answer_max_us;
	}
	if (count == 0) {
		report_write(sentence, "No server took 500 ms or longer for an answer; the longest took %.3f ms.",
			     (double)longest / 1e3);
		return;
	}
	report_write(sentence,
		     "Servers were slow on %llu connection%s: an answer took 500 ms or longer, the longest %.3f s",
		     report_say(count), report_plural(count), (double)longest / 1e6);
	report_write_worst(sentence, capture, "; for example of ");
	report_write(sentence, ".");
}

static bool
report_is_slow_client(const struct report_record *record)
{
	return record->protocol == PROTOCOL_TCP && record->exchanges > 0 && record->duration_us >= SLOW_CLIENT_US &&
	       record->exchanges * (uint64_t)record->answer_mean_us < record->duration_us / 10;
}

static void
report_clients(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_slow_client, REPORT_EVENTS);

	sentence->topic = "slow-client";
	sentence->weight = count;
	if (count == 0) {
		report_write(sentence, "On no connection of 1 s or longer was the client the slow end.");
		return;
	}
	report_write(sentence,
		     "On %llu connection%s of 1 s or longer the server needed less than a tenth of the time "
		     "for its answers: the rest is the client's, or the transfer's.",
		     report_say(count), report_plural(count));
}

static bool
report_is_resent(const struct report_record *record)
{
	return record->ends[REPORT_CLIENT].resent + record->ends[REPORT_SERVER].resent > 0;
}

static void
report_retransmissions(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_resent, REPORT_RESENT);
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

static bool
report_is_closed(const struct report_record *record)
{
	return record->ends[REPORT_CLIENT].zero_windows + record->ends[REPORT_SERVER].zero_windows > 0;
}

static void
report_windows(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_closed, REPORT_ZERO_WINDOW);
	uint64_t client = 0, server = 0, longest = 0;

	sentence->topic = "zero-window";
	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];

		client += record->ends[REPORT_CLIENT].zero_windows;
		server += record->ends[REPORT_SERVER].zero_windows;
		if (record->zero_window_us > longest)
			longest = record->zero_window_us;
	}
	sentence->weight = 15 * (client + server);
	if (count == 0) {
		report_write(sentence, "No receive window was closed.");
		return;
	}
	report_write(sentence,
		     "Receive windows were closed %llu time%s on %llu connection%s, %llu by clients and %llu by "
		     "servers, the longest for %.3f s: the program at that end reads too slowly.",
		     report_say(client + server), report_plural(client + server), report_say(count),
		     report_plural(count), report_say(client), report_say(server), (double)longest / 1e6);
}

static void
report_dns(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = capture->dns.queries;

	sentence->topic = "dns";
	sentence->weight = 40 * count;
	if (count == 0) {
		report_write(sentence, "No DNS query in the capture stayed without an answer.");
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

static bool
report_is_one_way(const struct report_record *record)
{
	return record->protocol == PROTOCOL_TCP && record->reason != REPORT_NO_ANSWER &&
	       (record->ends[REPORT_CLIENT].segments == 0 || record->ends[REPORT_SERVER].segments == 0);
}

/* The faults of the capture itself, so that they are not taken for faults of the network. */
static void
report_gaps(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t one_way = report_gather(sentence, capture, report_is_one_way, REPORT_EVENTS);
	uint64_t unreadable = capture->damaged + capture->unsupported;
	uint64_t faults = capture->dropped + one_way + unreadable + capture->truncated + capture->midstream;
	bool silent = capture->volume.gap >= GAP_NS;

	sentence->topic = "capture";
	sentence->weight =
	    25 * (capture->dropped + one_way) + 5 * (unreadable + capture->truncated) + capture->midstream + silent;
	if (capture->status != 0) {
		sentence->weight += 1000000;
		report_write(sentence,
			     "The capture is damaged or incomplete, and this page ends where it breaks off. ");
	}
	if (faults > 0) {
		report_write(sentence, "The capture itself has gaps, which are no fault of the network");
		report_write_part(sentence, capture->dropped, "frame was dropped", "frames were dropped");
		report_write_part(sentence, capture->midstream, "connection began before it",
				  "connections began before it");
		report_write_part(sentence, one_way, "connection shows one direction only",
				  "connections show one direction only");
		report_write_part(sentence, capture->truncated, "frame is cut within its headers",
				  "frames are cut within their headers");
		report_write_part(sentence, unreadable, "frame cannot be read", "frames cannot be read");
		report_write(sentence, ".");
	} else if (capture->status == 0) {
		report_write(
		    sentence,
		    "The capture itself has no gap: every frame is complete and every connection begins in it.");
	}
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
