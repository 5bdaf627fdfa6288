/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentence.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probes/names.h"

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
