/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentences.h"

#include <inttypes.h>

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

/* The longer of the times for which the windows of a record are not opened again; 0: none stays closed. */
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
