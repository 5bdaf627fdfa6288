/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_exchanges.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "flow/tcp/tcp.h"
#include "probes/netobs.h"

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

bool
report_exchanges_begin(struct report_exchanges *exchanges, struct report_capture *capture)
{
	exchanges->dns = &capture->dns;
	return report_exchanges_choose(exchanges, capture);
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
		/* A segment between them was left out: the first one after a hole. */
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

/* Whether a segment may be the last one of a request, which has PSH, or the first one of an answer: before it nothing
 * of the server is outstanding, unless it was lost, or the capture lacks a part.  A SYN may have data (RFC 7413). */
static bool
report_exchange_has_segment(const struct packet *segment, const struct tcp_endpoint *sender)
{
	uint32_t length = segment->payload_wire;

	return length > 0 && sender->state != TCP_STATE_NONE &&
	       ((segment->tcp.flags & (TCP_SYN | TCP_PSH)) != 0 || (sender->flags & TCP_EP_LAST_RETRANSMITTED) != 0 ||
		sender->nxt - sender->una == length);
}

/* A segment with data.  That of a server is an answer if it has new bytes and acknowledges the whole request. */
static void
report_exchange_segment(struct report_exchange *exchange, const struct firing *firing, uint64_t now, uint64_t packet,
			bool client)
{
	const struct tcp_layer *tcp = &firing->packet->tcp;
	const struct tcp_endpoint *self = &firing->flow->tcp[firing->endpoint];
	const struct tcp_endpoint *peer = &firing->flow->tcp[1 - firing->endpoint];
	bool again = (self->flags & TCP_EP_LAST_RETRANSMITTED) != 0;
	uint64_t sent = tcp_captured_bytes(self);

	if (!report_exchange_has_segment(firing->packet, self))
		return;
	if (!client) {
		report_exchange_data(exchange, now, self->nxt - ((tcp->flags & TCP_FIN) != 0) - (uint32_t)sent);
		exchange->unacknowledged = exchange->last_copy != exchange->request &&
					   self->segments_sent == exchange->received_segments + 1;
		if (exchange->waits && sent > exchange->received &&
		    (int32_t)(tcp->ack - exchange->end_sequence) >= 0)
			report_exchange_answer(exchange, now, packet, again);
		return;
	}
	exchange->sent = now;
	exchange->last_copy = packet;
	exchange->received_segments = peer->segments_sent;
	if (again && exchange->request != 0)
		return;
	exchange->request = packet;
	exchange->received = tcp_captured_bytes(peer);
	/* The client has all that the server has sent: nothing. */
	if (!exchange->has_base && exchange->received == 0 && (tcp->flags & TCP_ACK) != 0) {
		exchange->base = tcp->ack;
		exchange->has_base = true;
	}
	report_exchange_request(exchange, now, tcp->seq, tcp->seq + firing->packet->payload_wire);
}

void
report_exchanges_take_segment(struct report_exchanges *exchanges, const struct report_pass *pass,
			      const struct firing *firing, size_t number)
{
	struct report_exchange *exchange = &exchanges->list[number];
	bool client = exchange->record->ends[REPORT_CLIENT].cid == firing_cid(firing);

	report_exchange_segment(exchange, firing, report_pass_time(pass, firing), report_pass_frame(pass, firing),
				client);
}

void
report_exchanges_take_datagram(struct report_exchanges *exchanges, const struct report_pass *pass,
			       const struct flow *flow, unsigned sender, uint64_t time, size_t number)
{
	struct report_exchange *exchange = &exchanges->list[number];
	bool client = exchange->record->ends[REPORT_CLIENT].cid == flow_cid(pass->flows, flow, sender);
	uint64_t datagrams = flow->udp[0].datagrams + flow->udp[1].datagrams;

	if (datagrams != exchange->datagrams)
		report_exchange_datagram(exchange, time, pass->frame, client);
	exchange->datagrams = datagrams;
}

/* The first copy of a query: the last one with its id before its time is over. */
void
report_exchanges_take_query(struct report_exchanges *exchanges, const struct report_pass *pass, struct firing *firing)
{
	const struct conninfo *connection = firing_argument(firing, 0);
	const struct dnsinfo *sent = firing_argument(firing, 1);

	for (size_t i = 0; i < REPORT_EVIDENCE && i < exchanges->dns->count; i++) {
		struct report_query *query = &exchanges->dns->first[i];

		if (query->cid == connection->ci_cid && query->id == sent->dns_id &&
		    connection->ci_ts < query->time && sent->dns_tries <= 1)
			query->packet = report_pass_frame(pass, firing);
	}
}

void
report_exchanges_free(struct report_exchanges *exchanges)
{
	free(exchanges->list);
}
