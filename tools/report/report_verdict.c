/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_verdict.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/names.h"

/* ----------------------------------------------------------------------------------------------- texts and evidence */

void
report_write(struct report_sentence *sentence, const char *format, ...)
{
	size_t used = strlen(sentence->text);
	va_list list;

	va_start(list, format);
	vsnprintf(sentence->text + used, sizeof(sentence->text) - used, format, list);
	va_end(list);
}

void
report_write_time(struct report_sentence *sentence, uint64_t us)
{
	if (us >= 1000000)
		report_write(sentence, "%.3f s", (double)us / 1e6);
	else
		report_write(sentence, "%.3f ms", (double)us / 1e3);
}

void
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

const char *
report_space(const struct report_sentence *sentence)
{
	return sentence->text[0] == '\0' ? "" : " ";
}

const char *
report_rejection_words(const struct report_rejection *rejection)
{
	return icmp_error_words(rejection->version, rejection->type, rejection->code);
}

void
report_write_sender(struct report_sentence *sentence, const struct report_rejection *rejection)
{
	char text[INET6_ADDRSTRLEN];

	report_write(sentence, "%s",
		     inet_ntop(rejection->version == 6 ? AF_INET6 : AF_INET, rejection->sender, text, sizeof(text)));
}

void
report_write_rejection(struct report_sentence *sentence, const struct report_rejection *rejection, const char *before)
{
	if (rejection->version == 0)
		return;
	report_write(sentence, "%s", before);
	report_write_sender(sentence, rejection);
	report_write(sentence, ": %s", report_rejection_words(rejection));
}

const char *
report_plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

void
report_write_part(struct report_sentence *sentence, uint64_t count, const char *one, const char *many)
{
	if (count == 0)
		return;
	report_write(sentence, "%s%" PRIu64 " %s", sentence->has_parts ? ", " : ": ", count, count == 1 ? one : many);
	sentence->has_parts = true;
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

void
report_set_packet(struct report_evidence *evidence, uint64_t frame)
{
	evidence->frame = frame;
	evidence->text[0] = '\0';
	if (frame > 0)
		snprintf(evidence->text, sizeof(evidence->text), "packet %" PRIu64, frame);
}

uint64_t
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
				  report_record_event(&list[sentence->evidence[e].record], event));
	return count;
}

uint64_t
report_count_both(const struct report_capture *capture, report_measure one, report_measure other)
{
	uint64_t count = 0;

	for (size_t i = 0; i < capture->records.count; i++)
		count += one(&capture->records.list[i]) > 0 && other(&capture->records.list[i]) > 0;
	return count;
}

void
report_write_worst(struct report_sentence *sentence, const struct report_capture *capture, const char *before)
{
	const struct report_end *server;

	if (sentence->evidence_count == 0)
		return;
	server = &capture->records.list[sentence->evidence[0].record].ends[REPORT_SERVER];
	report_write(sentence, "%s%s port %u", before, server->address, server->port);
}

/* --------------------------------------------------------------------------------------- the quality of the capture */

/* A pause in all traffic of the capture that is worth a sentence, ns. */
#define GAP_NS 5000000000u

/* Limits from which a pause has a larger unit, s. */
#define DAY_S  86400u
#define YEAR_S (365u * DAY_S)

/* Duplicates are worth a sentence if there are DUPLICATES_MIN, and one of DUPLICATES_SHARE packets is one. */
#define DUPLICATES_MIN	 10u
#define DUPLICATES_SHARE 10u

static uint64_t
report_is_tcp(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP;
}

uint64_t
report_is_one_way(const struct report_record *record)
{
	return record->protocol == IPPROTO_TCP && record->reason != REPORT_NO_ANSWER &&
	       record->reason != REPORT_UNREACHED && !report_record_is_attempt(record) && record->silence.packet == 0 &&
	       !record->goes_on &&
	       (record->ends[REPORT_CLIENT].segments == 0 || record->ends[REPORT_SERVER].segments == 0);
}

bool
report_capture_is_one_way(const struct report_capture *capture)
{
	uint64_t tcp = 0, one_way = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];

		tcp += report_is_tcp(record) && !record->unanswered;
		one_way += report_is_one_way(record);
	}
	return 2 * one_way > tcp;
}

static uint64_t
report_measure_missing(const struct report_record *record)
{
	return record->missing;
}

static uint64_t
report_is_midstream(const struct report_record *record)
{
	return record->midstream;
}

/* Connections that lack data come first, then those of which one direction is missing. */
static uint64_t
report_measure_gap(const struct report_record *record)
{
	return 3 * record->missing + 2 * report_is_one_way(record) + record->midstream;
}

/* Bytes that ends acknowledge although the capture does not have them. */
static uint64_t
report_count_missing(const struct report_capture *capture)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < capture->records.count; i++)
		bytes += capture->records.list[i].missing;
	return bytes;
}

/* A snapshot length that cuts headers: without them there are no connections.  Returns the weight. */
static uint64_t
report_truncated(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t cut = capture->truncated > capture->shortened ? capture->truncated - capture->shortened : 0;
	bool most = 2 * cut >= capture->volume.frames;

	if (cut > 0)
		report_write(sentence,
			     "%sThe snapshot length is too small: %" PRIu64
			     " of %" PRIu64 " packets are cut in their headers%s.",
			     report_space(sentence), cut, capture->volume.frames,
			     most ? ", so that this page lacks most of the traffic" : "");
	if (capture->shortened > 0)
		report_write(sentence,
			     "%s%" PRIu64
			     " packet%s shorter than the length in the IP header, although the capture says "
			     "that %s captured whole.",
			     report_space(sentence), capture->shortened, capture->shortened == 1 ? " is" : "s are",
			     capture->shortened == 1 ? "it was" : "they were");
	return (most && cut > 0 ? 1000000 : 0) + 5 * cut + (capture->shortened > 0);
}

/* Nothing is missing in the capture, as far as its connections show. */
static void
report_complete(struct report_sentence *sentence, const struct report_capture *capture)
{
	struct report_sentence none = {0};

	if (capture->status != 0 || capture->truncated > 0)
		return;
	if (report_gather(&none, capture, report_is_tcp, REPORT_EVENTS) == 0)
		report_write(sentence, "%sThere is no TCP connection.", report_space(sentence));
	else
		report_write(sentence,
			     "%sThe capture itself has no gap: it has all data that is acknowledged, and every "
			     "connection begins in it.",
			     report_space(sentence));
}

/* Names the parts that the capture lacks.  Returns the weight, 0 if it lacks nothing. */
static uint64_t
report_gaps(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t gaps = report_gather(sentence, capture, report_measure_gap, REPORT_EVENTS);
	uint64_t one_way = report_count_both(capture, report_measure_gap, report_is_one_way);
	uint64_t lossy = report_count_both(capture, report_measure_gap, report_measure_missing);
	uint64_t midstream = report_count_both(capture, report_measure_gap, report_is_midstream);
	uint64_t unreadable = capture->damaged + capture->unsupported, missing = report_count_missing(capture);

	if (capture->dropped + gaps + unreadable == 0) {
		report_complete(sentence, capture);
		return 0;
	}
	report_write(sentence, "%sThe capture itself has gaps, which are not faults of the network",
		     report_space(sentence));
	report_write_part(sentence, capture->dropped, "frame was dropped", "frames were dropped");
	report_write_part(sentence, lossy, "connection lacks data", "connections lack data");
	if (lossy > 0)
		report_write(sentence, " (%" PRIu64 " byte%s that the receiver acknowledges)", missing,
			     report_plural(missing));
	report_write_part(sentence, midstream, "connection began before it", "connections began before it");
	report_write_part(sentence, one_way, "connection shows one direction only",
			  "connections show one direction only");
	report_write_part(sentence, unreadable, "frame cannot be read", "frames cannot be read");
	report_write(sentence, ".");
	return 60 * lossy + 25 * (capture->dropped + one_way) + 5 * unreadable + midstream;
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
		report_write(sentence, "%sAbout half of the packets are duplicates", report_space(sentence));
	else
		report_write(sentence, "%sAbout %u %% of the packets are duplicates", report_space(sentence), percent);
	report_write(sentence, ": a mirror port of both directions, or a capture on several interfaces, has them "
			       "twice. They are not retransmissions; the volumes below count them.");
	return 100 + 10 * copies;
}

/* Names the longest pause of all traffic.  A year is rather a clock that was set, or captures of different times. */
static void
report_pause(struct report_sentence *sentence, const struct report_volume *volume)
{
	double seconds = (double)volume->gap / 1e9;

	if (volume->gap < GAP_NS)
		return;
	report_write(sentence, " It is silent for ");
	if (seconds >= YEAR_S)
		report_write(sentence, "%.1f years", seconds / YEAR_S);
	else if (seconds >= 2 * DAY_S)
		report_write(sentence, "%.1f days", seconds / DAY_S);
	else
		report_write(sentence, "%.1f s", seconds);
	report_write(sentence, " before packet %" PRIu64, volume->gap_at);
	if (seconds >= YEAR_S)
		report_write(sentence, ": the clock was set, or captures of different times are merged");
	report_write(sentence, ".");
}

/* Names pauses and wrong time stamps.  Returns the weight. */
static uint64_t
report_oddities(struct report_sentence *sentence, const struct report_capture *capture)
{
	const struct report_volume *volume = &capture->volume;

	report_pause(sentence, volume);
	if (volume->stray == 1)
		report_write(sentence,
			     " Packet %" PRIu64 " has a time stamp far from those around it, and is not on the "
			     "time axes.",
			     volume->stray_at);
	else if (volume->stray > 1)
		report_write(sentence,
			     " %" PRIu64 " packets, packet %" PRIu64
			     " the first, have time stamps far from those around "
			     "them, and are not on the time axes.",
			     volume->stray, volume->stray_at);
	return 5 * volume->stray;
}

static void
report_quality(struct report_sentence *sentence, const struct report_capture *capture)
{
	sentence->topic = "capture";
	if (capture->status != 0) {
		sentence->weight += 1000000;
		report_write(sentence, "The capture is damaged or incomplete, and this page ends where it breaks off.");
	}
	if (capture->volume.frames == 0) {
		sentence->weight += 1000000;
		report_write(sentence, "There is no packet: nothing was captured, or nothing passes the filter.");
		return;
	}
	if (capture->records.left_out > 0) {
		sentence->weight += 1000000;
		report_write(sentence,
			     "%sThe last %" PRIu64 " connections are left out, with what they show: a page has %zu at "
			     "most.",
			     report_space(sentence), capture->records.left_out, capture->records.count);
	}
	sentence->weight += report_truncated(sentence, capture);
	sentence->weight += report_duplicated(sentence, capture);
	sentence->weight += report_gaps(sentence, capture);
	sentence->weight += report_oddities(sentence, capture);
}

/* ------------------------------------------------------------------------------------------------------ the verdict */

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
	static report_make_sentence *const make[REPORT_SENTENCES] = {
	    report_quality,	    report_no_answer, report_rejected,	 report_half_open,
	    report_refused,	    report_resets,    report_dns,	 report_unanswered_requests,
	    report_silent,	    report_answers,   report_handshakes, report_windows,
	    report_retransmissions, report_clients};

	for (size_t i = 0; i < REPORT_SENTENCES; i++) {
		memset(&sentences[i], 0, sizeof(sentences[i]));
		sentences[i].order = i;
		make[i](&sentences[i], capture);
	}
	qsort(sentences, REPORT_SENTENCES, sizeof(*sentences), report_sentence_compare);
}
