/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_facts.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------ connections that began before the capture */

/*
 * Connections of which the beginning is not captured.  One that goes on after its record has ended, because it was idle
 * for long, or was reset and its numbers live on in a new socket, has another record without a beginning: the capture
 * lacks nothing of it.
 */

/* Records between two ends, at least one of which has no beginning. */
struct report_pair {
	const struct report_record *record; /* one without a beginning; NULL: the slot is free */
	uint64_t first;			    /* start of the first of all records between these ends */
	uint64_t first_open;		    /* of those that have not ended by the FINs of both ends */
};

static bool
report_has_no_beginning(const struct report_record *record)
{
	if (record->protocol == IPPROTO_TCP)
		return (record->ends[REPORT_CLIENT].flags & REPORT_FLAG_SYN) == 0;
	return record->protocol == IPPROTO_SCTP && !record->opened;
}

/* Whether the ends are the same, in whichever roles. */
static bool
report_is_between(const struct report_record *a, const struct report_record *b)
{
	for (size_t first = 0; a->protocol == b->protocol && first < REPORT_ENDS; first++) {
		const struct report_end *one = &b->ends[first], *other = &b->ends[1 - first];

		if (a->ends[0].port == one->port && a->ends[1].port == other->port &&
		    strcmp(a->ends[0].address, one->address) == 0 && strcmp(a->ends[1].address, other->address) == 0)
			return true;
	}
	return false;
}

/* The same for both orders of the ends. */
static uint64_t
report_hash_pair(const struct report_record *record)
{
	uint64_t sum = record->protocol;

	for (size_t e = 0; e < REPORT_ENDS; e++) {
		uint64_t hash = 0xcbf29ce484222325u ^ record->ends[e].port; /* FNV-1a */

		for (const char *at = record->ends[e].address; *at != '\0'; at++)
			hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
		sum += hash;
	}
	return sum * 0x9e3779b97f4a7c15u >> 32;
}

/* The slot of the ends, or the free slot where they belong; `size` is a power of two. */
static struct report_pair *
report_find_pair(struct report_pair *pairs, size_t size, const struct report_record *record)
{
	size_t at = (size_t)report_hash_pair(record) & (size - 1);

	while (pairs[at].record != NULL && !report_is_between(pairs[at].record, record))
		at = (at + 1) & (size - 1);
	return &pairs[at];
}

static void
report_note_start(struct report_pair *pair, const struct report_record *record)
{
	if (record->start < pair->first)
		pair->first = record->start;
	if (record->reason != REPORT_FIN && record->start < pair->first_open)
		pair->first_open = record->start;
}

/* After the FINs of both ends what carries data is another connection. */
static bool
report_goes_on(const struct report_pair *pair, const struct report_record *record)
{
	bool data = record->ends[REPORT_CLIENT].bytes + record->ends[REPORT_SERVER].bytes > 0;

	return (data ? pair->first_open : pair->first) < record->start;
}

/* Finds the records of connections that began before the capture. */
static void
report_beginnings_find(struct report_capture *capture)
{
	struct report_record *list = capture->records.list;
	size_t count = capture->records.count, without = 0, size = 2;
	struct report_pair *pairs;

	for (size_t i = 0; i < count; i++)
		without += report_has_no_beginning(&list[i]);
	if (without == 0)
		return;
	while (size < 2 * without)
		size *= 2;
	pairs = calloc(size, sizeof(*pairs));
	if (pairs == NULL) {
		capture->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (report_has_no_beginning(&list[i]))
			*report_find_pair(pairs, size, &list[i]) =
			    (struct report_pair){&list[i], UINT64_MAX, UINT64_MAX};
	}
	for (size_t i = 0; i < count; i++) {
		struct report_pair *pair = report_find_pair(pairs, size, &list[i]);

		if (pair->record != NULL)
			report_note_start(pair, &list[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!report_has_no_beginning(&list[i]))
			continue;
		list[i].goes_on = report_goes_on(report_find_pair(pairs, size, &list[i]), &list[i]);
		list[i].midstream = !list[i].goes_on;
	}
	free(pairs);
}

/* ------------------------------------------------------------------------ what is open or without answer at the end */

/* A capture that continues for this time after a SYN or a SYN-ACK, ns, would have its answer. */
#define ANSWER_NS 3000000000u

/* Bytes of a request on a connection that has had answers; shorter data is often a control message without answer. */
#define REQUEST_MIN 64u

/* Requests in a row, each with an ACK and without an answer, that show a protocol of one direction. */
#define ONE_WAY_REQUESTS 3u

/* A client that closes within this time after its data, ns, expects no answer; later it has waited for one. */
#define CLOSE_NS 5000000000u

/* Retransmissions without an answer after which a peer is silent. */
#define SILENT_REPEATS 3u

/* The time, us, for which the window of an end is closed, if it stays closed until the record or the capture ends; else
 * 0. */
static uint64_t
report_stuck_us(const struct report_capture *capture, const struct report_record *record,
		const struct report_end_trouble *events, uint64_t segments)
{
	/* A connection that has not ended: nothing opens its window before the capture ends. */
	uint64_t until = record->reason >= REPORT_IDLE ? capture->volume.last : record->end;

	if (events->closed_packet == 0 || events->closed_segments != segments || until < events->closed_time)
		return 0;
	return (until - events->closed_time) / 1000;
}

/* If a capture has both sides of a firewall that rewrites numbers, an old segment seems to close a window.  The page
 * counts windows of which it can show the segment. */
static void
report_check_windows(const struct report_capture *capture, struct report_record *record)
{
	for (size_t i = 0; i < REPORT_ENDS; i++) {
		struct report_end *end = &record->ends[i];
		struct report_end_trouble *events = end->events.trouble;

		if (events == NULL || events->packets[REPORT_ZERO_WINDOW] == 0)
			end->zero_windows = 0;
		if (end->zero_windows == 0)
			continue;
		events->stuck_us = report_stuck_us(capture, record, events, end->segments);
		if (events->stuck_us > 0) {
			events->longest_us = events->stuck_us;
			events->longest_packet = events->closed_packet;
		}
		if (events->stuck_us >= REPORT_SLOW_READER_US)
			record->score += REPORT_SCORE_FAILED;
	}
}

/* The time of the first FIN or RST; the end of the connection if there is none. */
static uint64_t
report_finish_time(const struct report_end_events *client, const struct report_end_events *server, uint64_t end)
{
	uint64_t first = end;

	if (client->finish_time != 0 && client->finish_time < first)
		first = client->finish_time;
	if (server->finish_time != 0 && server->finish_time < first)
		first = server->finish_time;
	return first;
}

/* A connection that has not ended: nothing comes before the capture ends. */
static uint64_t
report_record_until(const struct report_capture *capture, const struct report_record *record)
{
	return record->reason == REPORT_CAPTURE_END ? capture->volume.last : record->end;
}

/* Whether data of a client may well have no answer: of a protocol of one direction, or, on a connection that has had
 * answers, a control message or what the client sends before it closes.  `until`: when the first end closes. */
static bool
report_expects_nothing(const struct report_end_events *client, const struct report_end *server, uint64_t until)
{
	const struct report_request_event *request = report_end_request(client);
	bool closes = until == client->finish_time && until < request->time + CLOSE_NS;

	return request->row >= ONE_WAY_REQUESTS || (server->bytes > 0 && (request->length < REQUEST_MIN || closes));
}

/* The latest request, if the server has sent segments after it, but no data. */
static void
report_check_request(const struct report_capture *capture, struct report_record *record)
{
	const struct report_end_events *client = &record->ends[REPORT_CLIENT].events;
	const struct report_end_events *server = &record->ends[REPORT_SERVER].events;
	const struct report_request_event *request = report_end_request(client);
	uint64_t until = report_finish_time(client, server, report_record_until(capture, record));

	if (request->packet == 0 || record->ends[REPORT_SERVER].bytes > request->received ||
	    record->ends[REPORT_SERVER].segments <= request->segments || until <= request->time)
		return;
	if (report_expects_nothing(client, &record->ends[REPORT_SERVER], until))
		return;
	/* Closing at once is how connections end, unless the server has sent nothing at all. */
	if (until - request->time < 1000ull * REPORT_SLOW_ANSWER_US &&
	    (until != server->finish_time || record->ends[REPORT_SERVER].bytes > 0))
		return;
	/* Where the capture ends early nobody can tell. */
	if (until != client->finish_time && until != server->finish_time && until - request->time < ANSWER_NS)
		return;
	record->open_request.packet = request->packet;
	record->open_request.us = (until - request->time) / 1000;
	record->open_request.end = until == server->finish_time ? REPORT_SERVER : REPORT_CLIENT;
	record->open_request.closed = until == client->finish_time || until == server->finish_time;
}

/* The ICMP error that a packet of a silent row, or shortly before it, was too big; 0 if there is none. */
static uint64_t
report_too_big(const struct report_end_trouble *events)
{
	return events->too_big_packet != 0 && events->too_big_time + ANSWER_NS >= events->repeats.time
		   ? events->too_big_packet
		   : 0;
}

/* What a client sends so shortly before it closes says good-bye, ns. */
#define FAREWELL_NS 100000000u

/* The time for which a client has waited for the rest of an answer when it closed.  The request is not a short message,
 * and the server has acknowledged it. */
static void
report_check_patience(struct report_record *record)
{
	const struct report_end_events *client = &record->ends[REPORT_CLIENT].events;
	const struct report_request_event *request = report_end_request(client);
	bool farewell = request->first < request->time && client->finish_time < request->time + FAREWELL_NS;
	uint64_t asked = farewell ? request->first : request->time;

	if (request->packet == 0 || record->closed_by != REPORT_CLIENT || client->finish_time <= asked ||
	    record->ends[REPORT_SERVER].segments <= request->segments ||
	    (farewell ? request->first_length : request->length) < REQUEST_MIN / 2)
		return;
	record->patience_us = (client->finish_time - asked) / 1000;
	record->abandoned = client->finish_received <= request->received;
}

/* Retransmissions, or keep-alive probes, up to the end to which the peer sends nothing.  A RST or FIN of the end
 * itself may follow them. */
static void
report_check_silence(struct report_record *record)
{
	for (size_t i = 0; i < REPORT_ENDS; i++) {
		const struct report_end *end = &record->ends[i], *peer = &record->ends[1 - i];
		const struct report_end_trouble *events = report_trouble(end);
		bool probes = events->alive.last > events->repeats.last;
		const struct report_repeats *repeats = probes ? &events->alive : &events->repeats;

		if (repeats->count < SILENT_REPEATS || repeats->received != peer->segments || peer->segments == 0 ||
		    repeats->segments + 1 < end->segments || repeats->last <= repeats->time)
			continue;
		record->silence = (struct report_silence){.too_big = report_too_big(events),
							  .packet = repeats->packet,
							  .us = (repeats->last - repeats->time) / 1000,
							  .repeats = repeats->count,
							  .probes = probes,
							  .end = (uint8_t)i};
	}
}

/* Whether a segment that was sent first at `since` was sent again, and then had its answer soon, or sooner than after
 * that. */
static bool
report_is_loss(const struct report_opening *again, uint64_t since, uint64_t answered)
{
	return again->packet != 0 && again->time > since && again->time <= answered &&
	       (answered - again->time < 1000ull * REPORT_SLOW_HANDSHAKE_US ||
		answered - again->time < again->time - since);
}

/* What the handshake waited for longest. */
static void
report_check_handshake(struct report_record *record, const struct report_end_events *client,
		       const struct report_end_events *server)
{
	const struct report_opening *syn_again = &report_end_trouble(client)->syn_again;
	const struct report_opening *syn_ack_again = &report_end_trouble(server)->syn_again;
	uint64_t opened = record->start + 1000 * (uint64_t)record->handshake_us, answered = server->syn_ack_time;

	record->syn_ack_packet = syn_ack_again->packet != 0 ? syn_ack_again->packet : server->syn_ack_packet;
	record->delay_packet = server->syn_ack_packet;
	if (record->handshake_us <= 0 || answered <= record->start || answered > opened)
		return;
	if (opened - answered > answered - record->start) {
		bool lost = report_is_loss(syn_ack_again, answered, opened);

		record->delay = lost ? REPORT_LOST_SYN_ACK : REPORT_LATE_ACK;
		record->delay_packet = lost ? syn_ack_again->packet : 0;
	} else if (report_is_loss(syn_again, record->start, answered)) {
		record->delay = syn_again->received > 0 ? REPORT_OLD_ANSWER : REPORT_LOST_SYN;
		/* The server had the first SYN, so that its answer to that was lost before the capture. */
		if (record->delay == REPORT_LOST_SYN && server->echoes_first)
			record->delay = REPORT_LOST_SYN_ACK;
		record->delay_packet = syn_again->packet;
	}
}

/* Bytes that an end acknowledges and that the capture lacks: still at its last segment, because a capture may have data
 * after its acknowledgement. */
static uint64_t
report_missing(const struct report_end_trouble *events, const struct report_end *end, const struct report_end *peer)
{
	bool fin = (peer->flags & REPORT_FLAG_FIN) != 0; /* it takes a number, and is acknowledged, too */

	return events->missing > 0 && events->missing_segments >= end->segments ? events->missing - fin : 0;
}

/* The time of a server until it greets, from the handshake on.  A client that sends nothing later has perhaps not
 * waited: the server of a protocol whose client sends first may say so, and close. */
static void
report_check_greeting(struct report_record *record, const struct report_end_trouble *server)
{
	uint64_t opened = record->handshake_us > 0 ? (uint64_t)record->handshake_us : 0;

	if (record->opened && record->ends[REPORT_CLIENT].bytes > 0 && record->missing == 0 &&
	    server->greeting_us > opened + REPORT_SLOW_ANSWER_US)
		record->greeting_us = server->greeting_us - opened;
}

/* A server may take nothing of what the capture has after its SYN-ACK: it does not arrive, or the queue of the server
 * is full.  The server then has no connection: it sends the SYN-ACK again, and acknowledges no data.  Silence for which
 * there is an ICMP error has another sentence. */
static void
report_check_half_open(const struct report_capture *capture, struct report_record *record,
		       const struct report_end_trouble *events)
{
	const struct report_end *client = &record->ends[REPORT_CLIENT], *server = &record->ends[REPORT_SERVER];
	bool passed = capture->volume.last >= record->end + ANSWER_NS;

	if (!report_record_is_half_open(record))
		return;
	record->untaken = (client->flags & REPORT_FLAG_ACK) != 0;
	if (!record->untaken)
		record->half_open = passed || record->resent_syn > 0;
	else if (events->too_big_packet == 0 && events->rejection.version == 0)
		record->half_open = passed || client->resent + server->resent >= SILENT_REPEATS;
	if (record->half_open && record->untaken)
		record->score += REPORT_SCORE_FAILED;
}

/* Sets the facts of a TCP connection. */
static void
report_check_tcp(const struct report_capture *capture, struct report_record *record)
{
	const struct report_end_events *client = &record->ends[REPORT_CLIENT].events;
	const struct report_end_events *server = &record->ends[REPORT_SERVER].events;
	const struct report_end_trouble *of_client = report_end_trouble(client);
	const struct report_end_trouble *of_server = report_end_trouble(server);

	record->unanswered = record->reason == REPORT_NO_ANSWER || record->reason == REPORT_UNREACHED ||
			     (report_record_is_attempt(record) &&
			      (record->resent_syn > 0 || capture->volume.last >= record->end + ANSWER_NS));
	if (record->rejection.version == 0 && record->unanswered)
		record->rejection = of_client->rejection;
	record->rejected = record->unanswered && record->rejection.version != 0;
	report_check_half_open(capture, record, of_client);
	report_check_handshake(record, client, server);
	record->missing = report_missing(of_client, &record->ends[REPORT_CLIENT], &record->ends[REPORT_SERVER]) +
			  report_missing(of_server, &record->ends[REPORT_SERVER], &record->ends[REPORT_CLIENT]);
	report_check_greeting(record, of_server);
	record->queued_us = of_client->queued_ns / 1000;
	if (record->unanswered || record->half_open)
		return;
	report_check_silence(record);
	report_check_patience(record);
	if (record->silence.packet == 0)
		report_check_request(capture, record);
	if (record->silence.packet != 0 || record->open_request.packet != 0)
		record->score += REPORT_SCORE_FAILED;
}

void
report_facts_find(struct report_capture *capture)
{
	report_beginnings_find(capture);
	for (size_t i = 0; i < capture->records.count; i++) {
		if (capture->records.list[i].protocol != IPPROTO_TCP)
			continue;
		report_check_windows(capture, &capture->records.list[i]);
		report_check_tcp(capture, &capture->records.list[i]);
	}
}

/* A segment may close the window of its end, or open it again. */
static void
report_follow_window(struct report_detail_end *end, const struct report_segment *segment)
{
	if ((segment->flags & (REPORT_FLAG_SYN | REPORT_FLAG_RST)) != 0)
		return;
	if (segment->window == 0 && end->closed_since == 0) {
		end->closed_since = segment->time;
		end->closed_packet = segment->packet;
	} else if (segment->window > 0 && end->closed_since != 0) {
		uint64_t ns = segment->time > end->closed_since ? segment->time - end->closed_since : 0;

		end->closed_ns += ns;
		end->closed_since = 0;
		if (ns > end->longest_ns) {
			end->longest_ns = ns;
			end->longest_packet = end->closed_packet;
		}
	}
}

/* Sets the times for which a window was closed.  Of a long connection the detail has the beginning. */
static void
report_set_closed(struct report_end_trouble *end, const struct report_detail_end *closed, bool complete)
{
	if (complete)
		end->closed_us = closed->closed_ns / 1000 + end->stuck_us;
	if (closed->longest_ns / 1000 > end->longest_us) {
		end->longest_us = closed->longest_ns / 1000;
		end->longest_packet = closed->longest_packet;
	}
}

void
report_facts_find_windows(struct report_capture *capture, struct report_detail *detail)
{
	for (size_t i = 0; i < detail->segments_count; i++) {
		const struct report_segment *segment = &detail->segments[i];

		report_follow_window(&detail->ends[2 * segment->detail + segment->end], segment);
	}
	for (size_t i = 0; i < capture->records.count; i++) {
		struct report_record *record = &capture->records.list[i];

		for (size_t e = 0; record->detail >= 0 && e < REPORT_ENDS; e++) {
			struct report_end *end = &record->ends[e];

			if (end->events.trouble != NULL)
				report_set_closed(end->events.trouble, &detail->ends[2 * (size_t)record->detail + e],
						  end->segments <= detail->end_segments);
		}
	}
}
