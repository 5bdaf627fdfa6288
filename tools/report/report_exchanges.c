/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_exchanges.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* The last segment of a request has PSH; before the first one of an answer nothing of the server is outstanding, unless
 * it was lost, or the capture lacks a part.  A SYN may have data (RFC 7413). */
#define SEGMENTS \
	"tcp-send where tcp_payload > 0 && (tcp_flags & (SYN|PSH) || tcps_retransmit == 1 || " \
	"tcps_snxt - tcps_suna == tcp_payload) && cs_cid"
#define DATAGRAMS "udp-send where cs_cid"
#define QUERIES	  "dns-query where ci_cid"

/* qsort(): the slowest answers first, then the order of the records. */
static int
report_exchange_compare(const void *a, const void *b)
{
	const struct report_record *x = *(struct report_record *const *)a, *y = *(struct report_record *const *)b;

	if (x->answer_max_us != y->answer_max_us)
		return x->answer_max_us > y->answer_max_us ? -1 : 1;
	return x->uid < y->uid ? -1 : x->uid > y->uid;
}

/* Puts those of the connections with slow answers into the list that are examined. */
static bool
report_exchanges_choose(struct report_exchanges *exchanges, struct report_capture *capture)
{
	struct report_record **slow = calloc(capture->records.count + 1, sizeof(struct report_record *));
	size_t found = 0;

	exchanges->list = calloc(REPORT_EXCHANGES, sizeof(*exchanges->list));
	if (slow == NULL || exchanges->list == NULL) {
		free(slow);
		return false;
	}
	for (size_t i = 0; i < capture->records.count; i++) {
		struct report_record *record = &capture->records.list[i];

		if (report_record_has_answers(record) && record->answer_max_us >= REPORT_SLOW_ANSWER_US)
			slow[found++] = record;
	}
	qsort(slow, found, sizeof(struct report_record *), report_exchange_compare);
	for (; exchanges->count < found && exchanges->count < REPORT_EXCHANGES; exchanges->count++) {
		struct report_exchange *exchange = &exchanges->list[exchanges->count];

		exchange->record = slow[exchanges->count];
		exchange->record->answers = exchange->answers;
	}
	free(slow);
	return true;
}

static void
report_exchanges_define(struct report_exchanges *exchanges, const char *name, const char *where, const uint64_t *cids,
			size_t count)
{
	if (count > 0)
		exchanges->formulas[exchanges->formulas_count] =
		    report_line_formula(name, exchanges->formulas_count, where, cids, count, "");
	exchanges->formulas_count += count > 0;
}

/* Defines the formulas of the connections of one protocol. */
static void
report_exchanges_define_all(struct report_exchanges *exchanges, const char *name, const char *where, bool tcp)
{
	uint64_t cids[REPORT_FORMULA_CIDS];
	size_t used = 0;

	for (size_t i = 0; i < exchanges->count; i++) {
		const struct report_record *record = exchanges->list[i].record;

		if ((record->protocol == IPPROTO_TCP) != tcp)
			continue;
		cids[used++] = record->ends[REPORT_CLIENT].cid;
		cids[used++] = record->ends[REPORT_SERVER].cid;
		if (used == REPORT_FORMULA_CIDS) {
			report_exchanges_define(exchanges, name, where, cids, used);
			used = 0;
		}
	}
	report_exchanges_define(exchanges, name, where, cids, used);
}

bool
report_exchanges_begin(struct report_exchanges *exchanges, struct report_capture *capture)
{
	uint64_t cids[REPORT_EVIDENCE];
	size_t queries = 0;
	bool all = report_exchanges_choose(exchanges, capture);

	exchanges->dns = &capture->dns;
	for (; queries < REPORT_EVIDENCE && queries < capture->dns.count; queries++)
		cids[queries] = capture->dns.first[queries].cid;
	report_exchanges_define_all(exchanges, "report-exchange-segment", SEGMENTS, true);
	report_exchanges_define_all(exchanges, "report-exchange-datagram", DATAGRAMS, false);
	report_exchanges_define(exchanges, "report-exchange-query", QUERIES, cids, queries);
	for (size_t i = 0; i < exchanges->formulas_count; i++)
		all &= exchanges->formulas[i] != NULL;
	return all;
}

static enum report_answer_kind
report_exchange_kind(const struct report_exchange *exchange, int64_t us)
{
	if (exchange->hole)
		return REPORT_ANSWER_HOLE;
	if (exchange->unacknowledged && us >= REPORT_SLOW_ANSWER_US)
		return REPORT_ANSWER_UNACKNOWLEDGED;
	return exchange->reaction ? REPORT_ANSWER_REACTION : REPORT_ANSWER_SERVER;
}

/* The request has its answer: sets the times of the record.  `again`: the answer is a retransmission. */
static void
report_exchange_answer(struct report_exchange *exchange, uint64_t now, uint64_t packet, bool again)
{
	struct report_record *record = exchange->record;
	struct report_answer answer = {.request = exchange->request, .answer = packet, .again = again}, *waited, *kind;

	exchange->waits = false;
	answer.waited_us = now > exchange->asked ? (int64_t)((now - exchange->asked) / 1000) : 0;
	answer.server_us = now > exchange->sent && !again ? (int64_t)((now - exchange->sent) / 1000) : 0;
	answer.last_copy = exchange->last_copy != exchange->request ? exchange->last_copy : 0;
	if (answer.waited_us > record->answer_max_us + 1) {
		/* The formula has left out a segment between them: the first one after a hole. */
		if (!exchange->hole)
			return;
		answer.waited_us = answer.server_us = record->answer_max_us;
	}
	kind = &exchange->answers[report_exchange_kind(exchange, answer.server_us)];
	if (answer.server_us > kind->server_us)
		*kind = answer;
	waited = &exchange->answers[REPORT_ANSWER_WAITED];
	if (answer.waited_us > waited->waited_us)
		*waited = answer;
}

/* A datagram, read up to its time. */
static void
report_exchange_datagram(struct report_exchange *exchange, uint64_t now, uint64_t packet, bool client)
{
	if (client) {
		exchange->asked = exchange->sent = now;
		exchange->request = exchange->last_copy = packet;
		exchange->waits = true;
	} else if (exchange->waits) {
		report_exchange_answer(exchange, now, packet, false);
	}
}

/* A new segment of a client.  Data of the server between two of them begins a request that may be a reaction, even if
 * the server has not answered all before. */
static void
report_exchange_request(struct report_exchange *exchange, uint64_t now, uint32_t sequence, uint32_t end_sequence)
{
	if (!exchange->waits || exchange->server_sent > exchange->asked) {
		exchange->sequence = sequence;
		exchange->reaction =
		    exchange->server_sent > 0 && now - exchange->server_sent <= (uint64_t)REPORT_REACTION_NS;
	}
	exchange->reaction = exchange->reaction && end_sequence - exchange->sequence <= REPORT_REACTION_BYTES;
	exchange->end_sequence = end_sequence;
	exchange->asked = now;
	exchange->waits = true;
	exchange->hole = false;
}

/* Data of a server, with its next sequence number less its captured bytes: after a hole that is higher than before. */
static void
report_exchange_data(struct report_exchange *exchange, uint64_t now, uint32_t base)
{
	exchange->hole |= exchange->has_base && (int32_t)(base - exchange->base) > 0;
	exchange->base = base;
	exchange->has_base = true;
	exchange->server_sent = now;
}

/* A segment with data, read up to its time.  That of a server is an answer if it has new bytes and acknowledges the
 * whole request. */
static void
report_exchange_segment(struct report_exchange *exchange, struct report_line *line, uint64_t now, uint64_t packet,
			bool client)
{
	/* In the order of the line. */
	uint32_t next = (uint32_t)report_line_number(line, "tcps_snxt", 0);
	bool again = report_line_number(line, "tcps_retransmit", 0) == 1;
	uint64_t sent = (uint64_t)report_line_number(line, "tcps_snd_bytes", 0);
	uint64_t received = (uint64_t)report_line_number(line, "tcps_rcv_bytes", 0);
	uint64_t sent_segments = (uint64_t)report_line_number(line, "tcps_snd_segs", 0);
	uint64_t received_segments = (uint64_t)report_line_number(line, "tcps_rcv_segs", 0);
	uint32_t sequence = (uint32_t)report_line_number(line, "tcp_seq", 0);
	uint32_t acknowledged = (uint32_t)report_line_number(line, "tcp_ack", 0);
	unsigned flags = (unsigned)report_line_number(line, "tcp_flags", 0);

	if (!client) {
		report_exchange_data(exchange, now, next - ((flags & REPORT_FLAG_FIN) != 0) - (uint32_t)sent);
		exchange->unacknowledged =
		    exchange->last_copy != exchange->request && sent_segments == exchange->received_segments + 1;
		if (exchange->waits && sent > exchange->received &&
		    (int32_t)(acknowledged - exchange->end_sequence) >= 0)
			report_exchange_answer(exchange, now, packet, again);
		return;
	}
	exchange->sent = now;
	exchange->last_copy = packet;
	exchange->received_segments = received_segments;
	if (again && exchange->request != 0)
		return;
	exchange->request = packet;
	exchange->received = received;
	/* The client has all that the server has sent: nothing. */
	if (!exchange->has_base && received == 0 && (flags & REPORT_FLAG_ACK) != 0) {
		exchange->base = acknowledged;
		exchange->has_base = true;
	}
	report_exchange_request(exchange, now, sequence,
				sequence + (uint32_t)report_line_number(line, "tcp_payload", 0));
}

static void
report_exchanges_read_payload(struct report_exchanges *exchanges, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	uint64_t cid = (uint64_t)report_line_number(line, "cs_cid", 0);
	uint64_t now = (uint64_t)report_line_number(line, "cs_ts", 0);

	for (size_t i = 0; i < exchanges->count; i++) {
		struct report_exchange *exchange = &exchanges->list[i];
		bool client = exchange->record->ends[REPORT_CLIENT].cid == cid;

		if (!client && exchange->record->ends[REPORT_SERVER].cid != cid)
			continue;
		if (exchange->record->protocol == IPPROTO_TCP)
			report_exchange_segment(exchange, line, now, packet, client);
		else
			report_exchange_datagram(exchange, now, packet, client);
		return;
	}
}

/* The first copy of a query: the last one with its id before its time is over. */
static void
report_exchanges_read_query(struct report_exchanges *exchanges, struct report_line *line)
{
	uint64_t cid = (uint64_t)report_line_number(line, "ci_cid", 0);
	uint64_t packet = (uint64_t)report_line_number(line, "ci_pkt", 0);
	uint64_t time = (uint64_t)report_line_number(line, "ci_ts", 0);
	int64_t id = report_line_number(line, "dns_id", 0), tries = report_line_number(line, "dns_tries", 0);

	for (size_t i = 0; i < REPORT_EVIDENCE && i < exchanges->dns->count; i++) {
		struct report_query *query = &exchanges->dns->first[i];

		if (query->cid == cid && query->id == id && time < query->time && tries <= 1)
			query->packet = packet;
	}
}

bool
report_exchanges_read(struct report_exchanges *exchanges, struct report_line *line)
{
	if (report_line_is(line, "report-exchange-query"))
		report_exchanges_read_query(exchanges, line);
	else if (report_line_is(line, "report-exchange-"))
		report_exchanges_read_payload(exchanges, line);
	else
		return false;
	return true;
}

void
report_exchanges_free(struct report_exchanges *exchanges)
{
	for (size_t i = 0; i < exchanges->formulas_count; i++)
		free(exchanges->formulas[i]);
	free(exchanges->list);
}
