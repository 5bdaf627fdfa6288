/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentences.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>

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
	report_write(sentence, " and answered none");
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
