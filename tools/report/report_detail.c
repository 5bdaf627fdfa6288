/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_detail.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "flow/tcp/tcp.h"
#include "probes/netobs.h"

/* -------------------------------------------------------------------------------------------------------- exchanges */

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

/* A segment that an end of exchange `number` sends. */
static void
report_exchanges_take_segment(struct report_exchanges *exchanges, const struct report_pass *pass,
			      const struct firing *firing, size_t number)
{
	struct report_exchange *exchange = &exchanges->list[number];
	bool client = exchange->record->ends[REPORT_CLIENT].cid == firing_cid(firing);

	report_exchange_segment(exchange, firing, report_pass_time(pass, firing), report_pass_frame(pass, firing),
				client);
}

/* Likewise a datagram. */
static void
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

/* A DNS query.  The packet of each query that the page lists is its first copy: the last one with its id before the
 * time of the query. */
static void
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

/* ---------------------------------------------------------------------------------------------- segments and states */

/* Time stamps may differ from packet time by so much, ns. */
#define TOLERANCE_NS 1000000000u

const char *
report_state_name(size_t state)
{
	static const char prefix[] = "state-";
	const char *name = state < TCP_STATE_COUNT ? tcp_state_name((enum tcp_state)state) : NULL;

	return name != NULL && strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? name + sizeof(prefix) - 1 : name;
}

/* ------------------------------------------------------------------------------------------------- what is watched */

/* The slot of an id, or the free slot where it belongs. */
static struct report_watched *
report_detail_slot(struct report_detail *detail, uint64_t cid)
{
	size_t at = (size_t)(cid * 0x9e3779b97f4a7c15u >> 32) & (REPORT_WATCHED - 1);

	while (detail->watched[at].cid != 0 && detail->watched[at].cid != cid)
		at = (at + 1) & (REPORT_WATCHED - 1);
	return &detail->watched[at];
}

static struct report_watched *
report_detail_watch(struct report_detail *detail, const struct report_record *record, unsigned end)
{
	struct report_watched *watched = report_detail_slot(detail, record->ends[end].cid);

	watched->cid = record->ends[end].cid;
	detail->ports[record->ends[end].port / 8] |= (uint8_t)(1u << record->ends[end].port % 8);
	return watched;
}

static bool
report_detail_has_port(const struct report_detail *detail, uint16_t port)
{
	return (detail->ports[port / 8] >> port % 8 & 1) != 0;
}

static bool
report_detail_rejects(void *context, uint16_t sport, uint16_t dport)
{
	const struct report_detail *detail = context;

	return !report_detail_has_port(detail, sport) || !report_detail_has_port(detail, dport);
}

static void
report_detail_set(unsigned *number, unsigned value)
{
	if (*number == 0)
		*number = 1 + value;
}

/* A connection that goes on after its record has ended has several records and one id: that of the first detail. */
static void
report_detail_watch_all(struct report_detail *detail, const struct report_records *records)
{
	const struct report_exchanges *exchanges = detail->exchanges;

	for (size_t i = 0; i < records->count; i++) {
		const struct report_record *record = &records->list[i];

		for (unsigned end = 0; record->detail >= 0 && end < REPORT_ENDS; end++)
			report_detail_set(&report_detail_watch(detail, record, end)->detail,
					  2 * (unsigned)record->detail + end);
	}
	for (unsigned i = 0; i < exchanges->count; i++) {
		for (unsigned end = 0; end < REPORT_ENDS; end++)
			report_detail_set(&report_detail_watch(detail, exchanges->list[i].record, end)->exchange, i);
	}
}

/* ---------------------------------------------------------------------------------------------------- the segments */

/* The segment of a firing at end `number`.  Its window has no scale yet.  A time stamp that is far from packet time is
 * ignored, as by the observer. */
static struct report_segment
report_detail_make_segment(const struct report_detail *detail, const struct firing *firing, unsigned number)
{
	const struct packet *packet = firing->packet;
	uint64_t now = report_pass_time(&detail->pass, firing), stamp = packet->frame->ts;
	bool far = stamp > now + TOLERANCE_NS || stamp + TOLERANCE_NS < now;

	return (struct report_segment){.time = far ? now : stamp,
				       .packet = report_pass_frame(&detail->pass, firing),
				       .sequence = packet->tcp.seq,
				       .acknowledgement = packet->tcp.ack,
				       .length = packet->payload_wire,
				       .window = packet->tcp.window,
				       .detail = (uint16_t)(number / 2),
				       .end = number % 2,
				       .flags = packet->tcp.flags};
}

static void
report_detail_add(struct report_detail *detail, const struct report_segment *segment)
{
	struct report_segment *to;
	struct report_detail_end *end;

	if (!array_reserve_one((void **)&detail->segments, detail->segments_count, &detail->segments_capacity,
			       sizeof(*to))) {
		detail->no_memory = true;
		return;
	}
	to = &detail->segments[detail->segments_count++];
	*to = *segment;
	end = &detail->ends[2 * segment->detail + segment->end];
	end->before_last = end->last;
	end->last = detail->segments_count;
}

/* The highest byte that the peer has SACKed.  A firing for a packet reports what the endpoint has received before this
 * packet, so the value belongs to the last segment of the peer before it. */
static void
report_detail_sacked(struct report_detail *detail, const struct report_segment *segment, uint32_t sacked)
{
	const struct report_detail_end *peer = &detail->ends[2 * segment->detail + 1 - segment->end];
	size_t last = peer->last;

	if (last > 0 && detail->segments[last - 1].packet == segment->packet)
		last = peer->before_last;
	if (last > 0 && sacked != 0)
		detail->segments[last - 1].sacked = sacked;
}

static void
report_detail_sent(struct report_detail *detail, struct firing *firing, unsigned number)
{
	struct report_segment segment = report_detail_make_segment(detail, firing, number);
	const struct tcpsinfo *sender = firing_argument(firing, 3);

	if (sender == NULL || sender->tcps_snd_segs > detail->end_segments)
		return;
	report_detail_sacked(detail, &segment, sender->tcps_sack_fack);
	segment.window = sender->tcps_rwnd;
	if (segment.packet == detail->resent_packet && firing_cid(firing) == detail->resent_cid)
		segment.kind = detail->resent_kind;
	report_detail_add(detail, &segment);
}

/* Whether the segment was added when it was sent. */
static bool
report_detail_has(const struct report_detail *detail, const struct report_segment *segment)
{
	for (size_t i = detail->segments_count; i > 0 && detail->segments[i - 1].packet >= segment->packet; i--) {
		if (detail->segments[i - 1].packet == segment->packet &&
		    detail->segments[i - 1].detail == segment->detail)
			return true;
	}
	return false;
}

/* A data sender may receive a segment while some of its data is SACKed.  A port on which nothing listens has no
 * endpoint, and neither has an older connection that answers a SYN: only the firing of the receiver has a
 * connection. */
static void
report_detail_received(struct report_detail *detail, struct firing *firing, unsigned number)
{
	struct report_segment segment = report_detail_make_segment(detail, firing, number);
	const struct tcpsinfo *receiver = firing_argument(firing, 3);

	if (receiver == NULL)
		return;
	if (receiver->tcps_rcv_segs <= detail->end_segments)
		report_detail_sacked(detail, &segment, receiver->tcps_sack_fack);
	if (((segment.flags & REPORT_FLAG_RST) == 0 && receiver->tcps_state != TCP_STATE_SYN_SENT) ||
	    report_detail_has(detail, &segment))
		return;
	segment.end = 1 - segment.end;
	if (detail->ends[2 * segment.detail + segment.end].answers++ < REPORT_END_ANSWERS)
		report_detail_add(detail, &segment);
}

/* The firing of a retransmission, or of a probe of a closed window, precedes that of its segment. */
static void
report_detail_resent(struct report_detail *detail, struct firing *firing)
{
	const struct tcprinfo *info = firing_argument(firing, 5);

	if (firing->flow->tcp[firing->endpoint].segments_sent > detail->end_segments)
		return;
	detail->resent_packet = report_pass_frame(&detail->pass, firing);
	detail->resent_cid = firing_cid(firing);
	detail->resent_kind =
	    firing->probe == PROBE_TCP_TIMEOUT_PERSIST ? REPORT_WINDOW_PROBE : (uint8_t)info->tcpr_kind;
}

static void
report_detail_change(struct report_detail *detail, struct firing *firing, unsigned number)
{
	const struct tcpnsinfo *after = firing_argument(firing, 3);
	const struct tcplsinfo *before = firing_argument(firing, 5);
	struct report_change *to;

	if (detail->ends[number].changes++ >= REPORT_END_CHANGES)
		return;
	if (!array_reserve_one((void **)&detail->changes, detail->changes_count, &detail->changes_capacity,
			       sizeof(*to))) {
		detail->no_memory = true;
		return;
	}
	to = &detail->changes[detail->changes_count++];
	*to = (struct report_change){.time = report_pass_time(&detail->pass, firing),
				     .detail = (uint16_t)(number / 2),
				     .end = number % 2,
				     .before = (uint8_t)before->tcps_state,
				     .after = (uint8_t)after->tcps_state};
}

/* -------------------------------------------------------------------------------------------------------- the pass */

static void
report_detail_fire_end(struct report_detail *detail, struct firing *firing, unsigned number)
{
	switch (firing->probe) {
	case PROBE_TCP_SEND:
		report_detail_sent(detail, firing, number);
		break;
	case PROBE_TCP_RECEIVE:
		report_detail_received(detail, firing, number);
		break;
	case PROBE_TCP_RETRANSMIT:
	case PROBE_TCP_TIMEOUT_PERSIST:
		report_detail_resent(detail, firing);
		break;
	case PROBE_TCP_STATE_CHANGE:
		report_detail_change(detail, firing, number);
		break;
	default:
		break;
	}
}

static void
report_detail_fire(void *context, struct firing *firing)
{
	struct report_detail *detail = context;
	const struct report_watched *watched;

	if (firing->probe == PROBE_DNS_QUERY) {
		report_exchanges_take_query(detail->exchanges, &detail->pass, firing);
		return;
	}
	/* Most connections are known by their ports, without their id. */
	if (firing->flow == NULL ||
	    report_detail_rejects(detail, firing->flow->key.port[0], firing->flow->key.port[1]) ||
	    (firing->packet != NULL && report_packet_is_void(firing->packet)))
		return;
	watched = report_detail_slot(detail, firing_cid(firing));
	if (watched->cid == 0)
		return;
	if (watched->detail != 0)
		report_detail_fire_end(detail, firing, watched->detail - 1);
	if (watched->exchange != 0 && firing->probe == PROBE_TCP_SEND)
		report_exchanges_take_segment(detail->exchanges, &detail->pass, firing, watched->exchange - 1);
}

/* Datagrams of exchanges: most packets have other ports. */
static void
report_detail_packet(void *context, const struct flow *flow, unsigned sender, uint64_t time)
{
	struct report_detail *detail = context;
	const struct report_watched *watched;

	if (flow->kind != FLOW_UDP || report_detail_rejects(detail, flow->key.port[0], flow->key.port[1]))
		return;
	watched = report_detail_slot(detail, flow_cid(detail->pass.flows, flow, sender));
	if (watched->exchange != 0)
		report_exchanges_take_datagram(detail->exchanges, &detail->pass, flow, sender, time,
					       watched->exchange - 1);
}

/* Runs the pass with the probes that are needed. */
static bool
report_detail_run(struct report_detail *detail, struct report_passes *passes)
{
	enum probe_id probes[6];
	size_t count = 0;

	if (detail->count > 0 || detail->exchanges->count > 0) {
		probes[count++] = PROBE_TCP_SEND;
		probes[count++] = PROBE_TCP_RECEIVE;
		probes[count++] = PROBE_TCP_RETRANSMIT;
		probes[count++] = PROBE_TCP_TIMEOUT_PERSIST;
		probes[count++] = PROBE_TCP_STATE_CHANGE;
	}
	if (detail->exchanges->dns->count > 0)
		probes[count++] = PROBE_DNS_QUERY;
	detail->pass = (struct report_pass){.probes = probes,
					    .probes_count = count,
					    .context = detail,
					    .fire = report_detail_fire,
					    .take_packet = report_detail_packet,
					    .rejects_ports = report_detail_rejects};
	return count == 0 || report_passes_second(passes, &detail->pass) != INPUT_FAILED;
}

bool
report_detail_read(struct report_detail *detail, struct report_exchanges *exchanges,
		   const struct report_records *records, size_t count, struct report_passes *passes)
{
	detail->count = count;
	detail->exchanges = exchanges;
	detail->end_segments = count > 0 ? REPORT_SEGMENTS / 2 / (unsigned)count : 0;
	if (detail->end_segments > REPORT_END_SEGMENTS)
		detail->end_segments = REPORT_END_SEGMENTS;
	detail->ends = calloc(2 * count + 1, sizeof(*detail->ends));
	if (detail->ends == NULL) {
		detail->no_memory = true;
		return true;
	}
	report_detail_watch_all(detail, records);
	return report_detail_run(detail, passes);
}

void
report_detail_free(struct report_detail *detail)
{
	free(detail->segments);
	free(detail->changes);
	free(detail->ends);
	free(detail);
}
