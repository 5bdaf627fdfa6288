/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentences.h"

#include <inttypes.h>
#include <string.h>

/* A handshake is slow from here on, us; the live page and the formula report-opening have the same limit. */
#define SLOW_HANDSHAKE_US 250000

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

void
report_no_answer(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_unanswered, REPORT_RESENT);

	sentence->topic = "no-answer";
	sentence->weight = 50 * count;
	if (count == 0) {
		report_write(sentence, "No connection attempt timed out or was repeated without an answer.");
		return;
	}
	report_write(sentence,
		     "%" PRIu64 " connection attempt%s had no answer: the host is away, or a firewall drops them",
		     count, report_plural(count));
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

void
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
	report_write(sentence, "%" PRIu64 " handshake%s took 250 ms or longer, the longest ", count,
		     report_plural(count));
	report_write_time(sentence, (uint64_t)longest);
	report_write_worst(sentence, capture, "; for example to ");
	report_write(sentence, ".");
}
