/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of ICMP errors that a sentence names; it counts the others. */
#define KINDS_NAMED 4u

/* Most kinds that are told apart: more than there are words. */
#define KINDS_MAX 64u

/* ICMP errors with the same words that have answered attempts. */
struct report_kind {
	const struct report_rejection *first;
	uint64_t count;
	bool many; /* from several senders */
};

static uint64_t
report_is_unanswered(const struct report_record *record)
{
	return record->unanswered && !record->rejected;
}

static uint64_t
report_is_rejected(const struct report_record *record)
{
	return record->rejected;
}

static uint64_t
report_is_half_open(const struct report_record *record)
{
	return record->half_open;
}

static uint64_t
report_is_untaken(const struct report_record *record)
{
	return record->half_open && record->untaken;
}

/* Counts the ports of an address to which the measure finds attempts. */
static uint64_t
report_count_ports(const struct report_capture *capture, const char *address, report_measure measure)
{
	uint8_t ports[UINT16_MAX / 8 + 1] = {0};
	uint64_t count = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		const struct report_record *record = &capture->records.list[i];
		const struct report_end *server = &record->ends[REPORT_SERVER];

		if (measure(record) == 0 || strcmp(server->address, address) != 0)
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
report_write_target(struct report_sentence *sentence, const struct report_capture *capture, report_measure measure)
{
	const char *address = capture->records.list[sentence->evidence[0].record].ends[REPORT_SERVER].address;
	uint64_t ports = report_count_ports(capture, address, measure);

	if (ports > 1)
		report_write(sentence, "; for example to %" PRIu64 " ports of %s", ports, address);
	else
		report_write_worst(sentence, capture, "; for example to ");
}

void
report_no_answer(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_unanswered, REPORT_RESENT);
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
	report_write(sentence, "%" PRIu64 " connection attempt%s had no answer%s", count, report_plural(count), cause);
	report_write_target(sentence, capture, report_is_unanswered);
	if (report_worst_sends(sentence, capture, REPORT_SERVER))
		report_write(sentence, ", an address that answers other connections");
	else if (report_worst_sends(sentence, capture, REPORT_CLIENT))
		report_write(sentence, ", an address that opens connections itself");
	report_write(sentence, ".");
}

/* Adds the ICMP error that has answered an attempt. */
static void
report_count_kind(struct report_kind *kinds, const struct report_rejection *rejection)
{
	const char *words = report_rejection_words(rejection);
	struct report_kind *kind = kinds;

	while (kind->count > 0 && strcmp(report_rejection_words(kind->first), words) != 0 &&
	       kind < kinds + KINDS_MAX - 1)
		kind++;
	if (kind->count++ == 0)
		kind->first = rejection;
	kind->many |= kind->first->version != rejection->version ||
		      memcmp(kind->first->sender, rejection->sender, sizeof(rejection->sender)) != 0;
}

/* qsort(): the most frequent first, then in the order of the words. */
static int
report_kind_compare(const void *a, const void *b)
{
	const struct report_kind *x = a, *y = b;

	if (x->count != y->count || x->count == 0)
		return x->count > y->count ? -1 : x->count < y->count;
	return strcmp(report_rejection_words(x->first), report_rejection_words(y->first));
}

/* Names the ICMP errors that have answered attempts, with their senders. */
static void
report_write_kinds(struct report_sentence *sentence, const struct report_capture *capture)
{
	struct report_kind kinds[KINDS_MAX] = {{NULL, 0, false}};
	uint64_t others = 0;

	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].rejected)
			report_count_kind(kinds, &capture->records.list[i].rejection);
	}
	qsort(kinds, KINDS_MAX, sizeof(kinds[0]), report_kind_compare);
	for (size_t i = 0; i < KINDS_MAX && kinds[i].count > 0; i++) {
		const char *words = report_rejection_words(kinds[i].first);

		if (i >= KINDS_NAMED) {
			others += kinds[i].count;
			continue;
		}
		report_write_part(sentence, kinds[i].count, words, words);
		report_write(sentence, " (from ");
		report_write_sender(sentence, kinds[i].first);
		report_write(sentence, "%s)", kinds[i].many ? " and others" : "");
	}
	report_write_part(sentence, others, "of another kind", "of other kinds");
}

void
report_rejected(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_rejected, REPORT_UNREACHABLE);

	sentence->topic = "unreachable";
	sentence->weight = 50 * count;
	if (count == 0)
		return;
	report_write(sentence, "%" PRIu64 " connection attempt%s answered with %s", count,
		     count == 1 ? " was" : "s were", count == 1 ? "an ICMP error" : "ICMP errors");
	report_write_kinds(sentence, capture);
	report_write_target(sentence, capture, report_is_rejected);
	report_write(sentence, ".");
}

void
report_half_open(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_half_open, REPORT_EVENTS);
	uint64_t untaken = report_count_both(capture, report_is_half_open, report_is_untaken);

	sentence->topic = "half-open";
	sentence->weight = 40 * count;
	if (count == 0)
		return;
	for (size_t e = 0; e < sentence->evidence_count; e++) {
		const struct report_record *record = &capture->records.list[sentence->evidence[e].record];

		report_set_packet(&sentence->evidence[e], record->syn_ack_packet);
	}
	report_write(sentence, "%" PRIu64 " connection%s never established", count, count == 1 ? " was" : "s were");
	report_write_part(
	    sentence, count - untaken,
	    "because the SYN-ACK had no ACK (it does not reach the client, or the SYN is one of a flood with "
	    "wrong addresses)",
	    "because the SYN-ACK had no ACK (it does not reach the client, or the SYN is one of a flood with "
	    "wrong addresses)");
	report_write_part(
	    sentence, untaken,
	    "because the server took nothing that followed its SYN-ACK (its queue of connections is "
	    "full, because the program does not accept them, or what the client sends does not reach it)",
	    "because the server took nothing that followed its SYN-ACK (its queue of connections is "
	    "full, because the program does not accept them, or what the client sends does not reach it)");
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
			report_set_packet(&sentence->evidence[e], record->delay_packet);
	}
}

/* ------------------------------------------------------------------------------------------------------------- ends */

static uint64_t
report_is_refused(const struct report_record *record)
{
	return record->reason == REPORT_REFUSED;
}

void
report_refused(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_is_refused, REPORT_RESET);

	sentence->topic = "refused";
	sentence->weight = 40 * count;
	if (count == 0) {
		report_write(sentence, "No connection was refused.");
		return;
	}
	report_write(sentence, "%" PRIu64 " connection%s refused: nothing listens there, or a firewall rejects them",
		     count, count == 1 ? " was" : "s were");
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
report_is_reset_after_fin(const struct report_record *record)
{
	unsigned end = record->reason == REPORT_RESET_CLIENT ? REPORT_CLIENT : REPORT_SERVER;

	return report_is_reset(record) && (record->ends[end].flags & REPORT_FLAG_FIN) != 0;
}

/* Some programs answer the FIN of the other end with a RST instead of their own. */
static uint64_t
report_is_reset_after_peer(const struct report_record *record)
{
	unsigned peer = record->reason == REPORT_RESET_CLIENT ? REPORT_SERVER : REPORT_CLIENT;

	return report_is_reset(record) && report_is_reset_after_fin(record) == 0 &&
	       (record->ends[peer].flags & REPORT_FLAG_FIN) != 0;
}

/* Connections that were closing already. */
static uint64_t
report_is_reset_late(const struct report_record *record)
{
	return report_is_reset_after_fin(record) + report_is_reset_after_peer(record);
}

/* A client that answers the SYN-ACK with RST, as scanners do, or a server that never was established: it resets what
 * its full queue does not take, or its client gives up. */
static uint64_t
report_is_reset_half_open(const struct report_record *record)
{
	bool untaken = record->handshake_us < 0 && (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_SYN) != 0 &&
		       (record->ends[REPORT_SERVER].flags & (REPORT_FLAG_SYN | REPORT_FLAG_FIN)) == REPORT_FLAG_SYN &&
		       record->ends[REPORT_SERVER].bytes == 0;

	return report_is_reset(record) && record->opened &&
	       (untaken ||
		(record->reason == REPORT_RESET_CLIENT && (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_ACK) == 0));
}

/* The evidence begins with those that a server has reset in the middle. */
static uint64_t
report_measure_reset(const struct report_record *record)
{
	uint64_t in_the_middle = report_is_reset_late(record) > 0 ? 0 : 2;

	return report_is_reset(record) > 0 ? 1 + in_the_middle + report_is_reset_by_server(record) : 0;
}

void
report_resets(struct report_sentence *sentence, const struct report_capture *capture)
{
	uint64_t count = report_gather(sentence, capture, report_measure_reset, REPORT_RESET);
	uint64_t by_server = report_count_both(capture, report_measure_reset, report_is_reset_by_server);
	uint64_t after_fin = report_count_both(capture, report_measure_reset, report_is_reset_after_fin);
	uint64_t after_peer = report_count_both(capture, report_measure_reset, report_is_reset_after_peer);
	uint64_t server_late = report_count_both(capture, report_is_reset_by_server, report_is_reset_late);
	uint64_t half_open = report_count_both(capture, report_measure_reset, report_is_reset_half_open);

	sentence->topic = "reset";
	sentence->weight =
	    10 * (count - after_fin - after_peer) + 30 * (by_server - server_late) + after_fin + after_peer;
	if (count == 0) {
		report_write(sentence, "No connection was reset.");
		return;
	}
	report_write(sentence,
		     "%" PRIu64 " connection%s reset, %" PRIu64 " by the client and %" PRIu64 " by the server", count,
		     count == 1 ? " was" : "s were", count - by_server, by_server);
	report_write_part(sentence, half_open, "before it was established", "before they were established");
	report_write_part(sentence, after_fin,
			  "after its own FIN, because the program had closed already, which is usually harmless",
			  "after their own FIN, because the program had closed already, which is usually harmless");
	report_write_part(sentence, after_peer, "after the FIN of the other end, as some programs close",
			  "after the FIN of the other end, as some programs close");
	report_write_worst(sentence, capture, "; for example with ");
	report_write(sentence, ".");
}
