/* SPDX-License-Identifier: BSD-2-Clause */
/* The sentence on slow servers: answers by what their time is known to be (report_exchanges.h), and late greetings. */
#include "tools/report/verdict/report_sentences.h"

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
