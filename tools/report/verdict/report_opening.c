/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/verdict/report_sentences.h"

#include <inttypes.h>
#include <string.h>

static uint64_t
report_is_unanswered(const struct report_record *record)
{
	return record->unanswered;
}

static uint64_t
report_is_rejected(const struct report_record *record)
{
	return record->unanswered && record->rejected;
}

static uint64_t
report_is_half_open(const struct report_record *record)
{
	return record->half_open;
}

/* Counts the ports to which attempts at an address have no answer. */
static uint64_t
report_count_ports(const struct report_capture *capture, const char *address)
{
	uint8_t ports[UINT16_MAX / 8 + 1] = {0};
	uint64_t count = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];
		const struct report_end *server = &record->ends[REPORT_SERVER];

		if (!record->unanswered || strcmp(server->address, address) != 0)
			continue;
		count += (ports[server->port / 8] & 1u << server->port % 8) == 0;
		ports[server->port / 8] |= (uint8_t)(1u << server->port % 8);
	}
	return count;
}

/* True if the server of the worst connection sends as this end of another one. */
static bool
report_worst_sends(const struct report_sentence *sentence, const struct report_capture *capture, size_t end)
{
	const struct report_record *list = capture->records.list;
	const char *address = list[sentence->evidence[0].record].ends[REPORT_SERVER].address;

	for (size_t i = 0; i < capture->records.count; i++) {
		if (list[i].ends[end].segments > 0 && strcmp(list[i].ends[end].address, address) == 0)
			return true;
	}
	return false;
}

/* True if the capture lacks what the server of the worst connection sends on another one. */
static bool
report_worst_is_not_captured(const struct report_sentence *sentence, const struct report_capture *capture)
{
	const struct report_record *list = capture->records.list;
	const char *address = list[sentence->evidence[0].record].ends[REPORT_SERVER].address;

	for (size_t i = 0; i < capture->records.count; i++) {
		for (size_t e = 0; e < REPORT_ENDS && report_is_one_way(&list[i]) > 0; e++) {
			const struct report_end *end = &list[i].ends[e];

			if (end->segments == 0 && strcmp(end->address, address) == 0)
				return true;
		}
	}
	return false;
}

/* Names the server of the first attempt, and several ports of it as a number. */
static void
report_write_target(struct report_sentence *sentence, const struct report_capture *capture)
{
	const char *address = capture->records.list[sentence->evidence[0].record].ends[REPORT_SERVER].address;
	uint64_t ports = report_count_ports(capture, address);

	if (ports > 1)
		report_write(sentence, "; for example to %" PRIu64 " ports of %s", ports, address);
	else
		report_write_worst(sentence, capture, "; for example to ");
}

/* Names what has rejected attempts; the packets are its ICMP errors. */
static void
report_write_rejected(struct report_sentence *sentence, const struct report_capture *capture, uint64_t rejected)
{
	struct report_sentence first = {0};
	const struct report_record *list = capture->records.list;

	report_gather(&first, capture, report_is_rejected, REPORT_EVENTS);
	report_write(sentence, " %" PRIu64 " of them %s rejected", rejected, rejected == 1 ? "was" : "were");
	report_write_rejection(sentence, capture, &list[first.evidence[0].record].ends[REPORT_CLIENT], " with");
	report_write(sentence, ".");
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		const struct report_record *record = &list[sentence->evidence[e].record];

		if (record->rejected)
			report_set_packet(&sentence->evidence[e],
					  report_capture_event(capture, record, REPORT_UNREACHABLE));
	}
}

void
report_no_answer(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_unanswered, REPORT_RESENT);
	uint64_t rejected = report_count_both(capture, report_is_unanswered, report_is_rejected);
	const char *cause = ": the host is away, or a firewall drops them";

	sentence->topic = "no-answer";
	sentence->weight = 50 * count;
	if (count == 0) {
		report_write(sentence, "No connection attempt timed out or was repeated without an answer.");
		return;
	}
	if (report_worst_is_not_captured(sentence, capture) && !report_worst_sends(sentence, capture, REPORT_SERVER) &&
	    !report_worst_sends(sentence, capture, REPORT_CLIENT)) {
		sentence->weight = count;
		cause = ", perhaps because the capture has one direction only, as of other connections";
	}
	report_write(sentence, "%" PRIu64 " connection attempt%s had no answer%s", count, report_plural(count),
		     rejected == count ? "" : cause);
	report_write_target(sentence, capture);
	if (report_worst_sends(sentence, capture, REPORT_SERVER))
		report_write(sentence, ", an address that answers other connections");
	else if (report_worst_sends(sentence, capture, REPORT_CLIENT))
		report_write(sentence, ", an address that opens connections itself");
	report_write(sentence, ".");
	if (rejected > 0)
		report_write_rejected(sentence, capture, rejected);
}

void
report_half_open(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_half_open, REPORT_EVENTS);

	sentence->topic = "half-open";
	sentence->weight = 40 * count;
	if (count == 0)
		return;
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		const struct report_record *record = &capture->records.list[sentence->evidence[e].record];

		report_set_packet(&sentence->evidence[e], report_capture_frame(capture, record->syn_ack_packet));
	}
	report_write(sentence,
		     "%" PRIu64 " connection%s never established: the SYN-ACK had no ACK. It does not reach the "
		     "client, or the SYN is one of a flood with wrong addresses",
		     count, count == 1 ? " was" : "s were");
	report_write_worst(sentence, capture, "; for example to ");
	report_write(sentence, ".");
}

static uint64_t
report_measure_handshake(const struct report_record *record)
{
	return record->handshake_us >= REPORT_SLOW_HANDSHAKE_US ? (uint64_t)record->handshake_us : 0;
}

/* Names what the slow handshakes waited for. */
static void
report_write_delays(struct report_sentence *sentence, const struct report_capture *capture)
{
	static const char *const reasons[REPORT_DELAYS] = {
	    [REPORT_LATE_SYN_ACK] = "for want of the SYN-ACK of the server",
	    [REPORT_LATE_ACK] = "for want of the ACK of the client",
	    [REPORT_OLD_ANSWER] = "because the server answered for an older connection of the same ports",
	    [REPORT_LOST_SYN] = "because the SYN was sent again",
	    [REPORT_LOST_SYN_ACK] = "because the SYN-ACK was sent again"};
	uint64_t count[REPORT_DELAYS] = {0};

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];

		count[record->delay] += report_measure_handshake(record) > 0;
	}
	for (size_t i = 0; i < REPORT_DELAYS; i++)
		report_write_part(sentence, count[i], reasons[i], reasons[i]);
	if (count[REPORT_LOST_SYN] + count[REPORT_LOST_SYN_ACK] > 0)
		report_write(sentence, " (it or the answer to it was lost%s)",
			     count[REPORT_LOST_SYN] > 0 ? ", or the queue of the server was full" : "");
}

static uint64_t
report_longest_handshake(const struct report_capture *capture)
{
	int64_t longest = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].handshake_us > longest)
			longest = capture->records.list[i].handshake_us;
	}
	return (uint64_t)longest;
}

void
report_handshakes(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_handshake, REPORT_OPENED);
	uint64_t longest = report_longest_handshake(capture);

	sentence->topic = "handshake";
	sentence->weight = 20 * count;
	if (count == 0) {
		report_write_longest(sentence, "handshake", "No handshake took 250 ms or longer", longest);
		return;
	}
	report_write(sentence, "%" PRIu64 " handshake%s took 250 ms or longer", count, report_plural(count));
	report_write_delays(sentence, capture);
	report_write(sentence, "; the longest took ");
	report_write_time(sentence, longest);
	report_write_worst(sentence, capture, ", to ");
	report_write(sentence, ".");
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		const struct report_record *record = &capture->records.list[sentence->evidence[e].record];

		if (record->delay_packet != 0)
			report_set_packet(&sentence->evidence[e], report_capture_frame(capture, record->delay_packet));
	}
}
