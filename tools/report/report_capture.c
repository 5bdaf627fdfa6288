/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_capture.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "flow/tcp/tcp.h"
#include "probes/netobs.h"

/* Segments of LONG_REQUEST bytes or more that follow each other within LONG_REQUEST_NS are one request. */
#define LONG_REQUEST	512u
#define LONG_REQUEST_NS 500000000u

/* A query that is sent again times out again within this time, ns. */
#define DNS_REPEATS_NS 60000000000u

/* An end that acknowledges so much more than its peer was captured sending shows that the capture lacks something: its
 * SYN and its FIN take a number each. */
#define BEYOND_MIN 3u
#define BEYOND_MAX 0x3fffffffu

/* A firing at an end of a connection. */
struct report_event_at {
	struct firing *firing;
	const struct packet *segment;
	const struct tcp_endpoint *self, *peer;
	uint64_t packet, time;
};

/* The events of both ends of the connection of a firing. */
static struct report_end_events *
report_ends_of(struct report_capture *capture, const struct firing *firing)
{
	size_t index = flow_table_index(capture->pass.flows, firing->flow);

	if (index >= capture->live_count)
		capture->live_count = index + 1;
	return capture->live[index];
}

static struct report_end_trouble *
report_trouble_of(struct report_capture *capture, const struct firing *firing)
{
	struct report_end_trouble *trouble =
	    report_end_add_trouble(&report_ends_of(capture, firing)[firing->endpoint], firing_cid(firing));

	capture->no_memory |= trouble == NULL;
	return trouble;
}

/* Notes the first RST that has an effect. */
static void
report_note_reset(struct report_capture *capture, const struct report_event_at *at)
{
	struct report_end_trouble *trouble = report_trouble_of(capture, at->firing);

	if (trouble != NULL && trouble->packets[REPORT_RESET] == 0)
		trouble->packets[REPORT_RESET] = at->packet;
}

/* ------------------------------------------------------------------------------------------------------ the frames */

static void
report_capture_frame(void *context, const struct frame *frame)
{
	struct report_capture *capture = context;

	report_volume_frame(&capture->volume, frame->ts, frame->len);
}

/* The outermost IP packet of a frame says which protocol the frame belongs to. */
static void
report_capture_ip(struct report_capture *capture, const struct packet *packet)
{
	bool fragment6 = packet->ip.version == 6 && packet->ip.fragment;

	if (packet->tunnelled)
		return;
	report_volume_protocol(&capture->volume, fragment6 ? IPPROTO_FRAGMENT : packet->ip.protocol);
	/* A copy of what has neither an identification nor data may have been sent by its sender. */
	if (packet->ip.fragment_id != 0 || packet->payload_wire > 0) {
		capture->duplicates.packets++;
		capture->duplicates.copies += anomaly_has(&packet->anomalies, ANOMALY_DUPLICATE);
	}
}

/* ----------------------------------------------------------------------------------------------- what an end sends */

/* A segment that shows that its sender's window is closed, or a RST, which shows no window. */
static void
report_sent_closed_window(struct report_capture *capture, const struct report_event_at *at)
{
	bool reset = (at->segment->tcp.flags & TCP_RST) != 0;
	struct report_end_trouble *trouble;

	if (reset && report_ends_of(capture, at->firing)[at->firing->endpoint].trouble == NULL)
		return;
	trouble = report_trouble_of(capture, at->firing);
	if (trouble == NULL)
		return;
	if (trouble->closed_packet == 0 || trouble->closed_segments + 1 != at->self->segments_sent) {
		if (reset)
			return;
		trouble->closed_packet = at->packet;
		trouble->closed_time = at->time;
	}
	trouble->closed_segments = at->self->segments_sent;
	if (!reset && trouble->packets[REPORT_ZERO_WINDOW] == 0)
		trouble->packets[REPORT_ZERO_WINDOW] = at->packet;
}

/* Whether data is a request of its own: the server has sent an ACK before it, and it is not part of a long request. */
static bool
report_is_next_request(const struct report_request_event *before, const struct report_request_event *next)
{
	return next->segments != before->segments &&
	       (next->length < LONG_REQUEST || next->time >= before->time + LONG_REQUEST_NS);
}

/* The last segment of a request has PSH. */
static void
report_sent_request(struct report_capture *capture, const struct report_event_at *at)
{
	struct report_end_events *end = &report_ends_of(capture, at->firing)[at->firing->endpoint];
	struct report_request_event *before = report_end_add_request(end);
	struct report_request_event request = {.packet = at->packet,
					       .row = 1,
					       .time = at->time,
					       .first = at->time,
					       .received = tcp_captured_bytes(at->peer),
					       .segments = at->peer->segments_sent,
					       .length = at->segment->payload_wire,
					       .first_length = at->segment->payload_wire};

	capture->no_memory |= before == NULL;
	if (before == NULL)
		return;
	if (before->packet != 0 && request.received == before->received) {
		uint64_t since = before->first;

		request.row = before->row + report_is_next_request(before, &request);
		request.first = since;
		request.first_length = before->first_length;
		if (request.row > 1 && at->time > since && at->time - since > report_end_trouble(end)->queued_ns) {
			struct report_end_trouble *trouble = report_trouble_of(capture, at->firing);

			if (trouble != NULL)
				trouble->queued_ns = at->time - since;
		}
	}
	*before = request;
}

/* The first data of a server, late and before any data of the client. */
static void
report_sent_greeting(struct report_capture *capture, const struct report_event_at *at)
{
	uint64_t start = flow_first_seen(capture->pass.flows, at->firing->flow);
	struct report_end_trouble *trouble;

	if (tcp_captured_bytes(at->peer) != 0 || tcp_captured_bytes(at->self) != at->segment->payload_wire ||
	    at->segment->tcp.ack != at->peer->iss + 1 || at->time < start + 1000ull * REPORT_SLOW_ANSWER_US)
		return;
	trouble = report_trouble_of(capture, at->firing);
	if (trouble == NULL || trouble->packets[REPORT_GREETING] != 0)
		return;
	trouble->packets[REPORT_GREETING] = at->packet;
	trouble->greeting_us = (at->time - start) / 1000;
}

/* A segment that acknowledges more than its peer was captured sending. */
static void
report_note_missing(struct report_capture *capture, const struct report_event_at *at, uint32_t missing)
{
	struct report_end_trouble *trouble = report_trouble_of(capture, at->firing);

	if (trouble == NULL)
		return;
	trouble->missing = missing;
	trouble->missing_segments = at->self->segments_sent;
}

/* SYN, FIN and RST. */
static void
report_sent_control(struct report_capture *capture, const struct report_event_at *at, bool again)
{
	struct report_end_events *ends = report_ends_of(capture, at->firing), *end = &ends[at->firing->endpoint];
	const struct report_end_events *peer = &ends[1 - at->firing->endpoint];
	unsigned flags = at->segment->tcp.flags;

	/* The RST of an end closes that end at once, a RST that is not its own does not. */
	if ((flags & TCP_RST) != 0 && at->self->state == TCP_STATE_CLOSED)
		report_note_reset(capture, at);
	if ((flags & (TCP_FIN | TCP_RST)) != 0 && !again && end->finish_time == 0) {
		end->finish_time = at->time;
		end->finish_received = tcp_captured_bytes(at->peer);
		end->finish_data_time = peer->data_time;
		end->reset_first = (flags & TCP_RST) != 0;
	}
	if ((flags & TCP_SYN) != 0 && (flags & TCP_ACK) != 0 && at->self->state == TCP_STATE_SYN_RECEIVED &&
	    end->syn_ack_packet == 0) {
		end->syn_ack_packet = at->packet;
		end->syn_ack_time = at->time;
		end->echoes_first = (at->segment->tcp.options & TCP_OPTION_TIMESTAMPS) != 0 &&
				    peer->ticks_first_time != 0 && at->segment->tcp.tsecr == peer->ticks_first;
	}
}

/* Sets what happens; false if it changes nothing, or no packet has proved that the end exists. */
static bool
report_event_find(const struct report_capture *capture, struct firing *firing, struct report_event_at *at)
{
	if (firing->flow == NULL || (firing->packet != NULL && report_packet_is_void(firing->packet)))
		return false;
	*at = (struct report_event_at){.firing = firing,
				       .segment = firing->packet,
				       .self = &firing->flow->tcp[firing->endpoint],
				       .peer = &firing->flow->tcp[1 - firing->endpoint],
				       .packet = report_pass_frame(&capture->pass, firing),
				       .time = report_pass_time(&capture->pass, firing)};
	return at->self->state != TCP_STATE_NONE;
}

/* The first segment of a connection: an earlier one with its index may have had events after its record. */
static void
report_capture_forget(struct report_capture *capture, const struct firing *firing)
{
	struct report_end_events *ends = report_ends_of(capture, firing);

	report_end_clear(&ends[0]);
	report_end_clear(&ends[1]);
}

/* Most identifications that are missing between two segments. */
#define IDENTS_MISSING_MAX 64u

/* The largest segment that is one packet: the parts of a larger one have an identification each. */
#define ONE_PACKET 1460u

static void
report_count_up(uint16_t *count, unsigned by)
{
	*count = (uint16_t)(*count + by < UINT16_MAX ? *count + by : UINT16_MAX);
}

/* Most systems count the packets of a connection in the identification (RFC 791): a gap is packets that the capture
 * does not have. */
static void
report_sent_ident(struct report_end_events *self, const struct packet *segment)
{
	uint16_t step = (uint16_t)(segment->ip.fragment_id - self->ident);

	if (segment->ip.version != 4 || segment->ip.fragment_id == 0) {
		self->idents_known = 0;
		return;
	}
	if (self->idents_known != 0 && step > 0 && step <= IDENTS_MISSING_MAX + 1) {
		report_count_up(&self->idents_next, 1);
		report_count_up(&self->idents_missing, step - 1u);
	} else if (self->idents_known != 0 && step >= UINT16_MAX - IDENTS_MISSING_MAX) {
		report_count_up(&self->idents_late, 1);
	} else if (self->idents_known != 0) {
		report_count_up(&self->idents_odd, 1);
	}
	if (self->idents_known == 0 || step < UINT16_MAX / 2)
		self->ident = (uint16_t)segment->ip.fragment_id;
	self->idents_known = segment->payload_wire <= ONE_PACKET;
}

/* Counts a retransmission that follows another one directly, or starts to count. */
static void
report_count_repeat(struct report_repeats *repeats, const struct report_repeats *latest)
{
	uint64_t count = repeats->count;

	if (count == 0 || latest->segments != repeats->segments + 1 || latest->received != repeats->received) {
		*repeats = *latest;
		count = 0;
	}
	repeats->count = count + 1;
	repeats->segments = latest->segments;
	repeats->last = latest->time;
}

/* An ACK is delayed if it comes so long after a small segment, ns: systems wait 40 ms at least, RFC 9293 allows 500
 * ms. */
#define DELAYED_ACK_MIN 30000000u
#define DELAYED_ACK_MAX 550000000u

/* What has waited for an ACK follows it within this time, ns. */
#define HELD_NS 3000000u

/* Payload of a segment that a sender may hold back until all before it is acknowledged (RFC 9293 section 3.7.4). */
#define SMALL_SEGMENT 536u

/* New payload: whether its sender has waited with it until its small segment before was acknowledged, late. */
static void
report_sent_data(struct report_capture *capture, const struct report_event_at *at, struct report_end_events *self)
{
	uint64_t acked = self->acked_time, waited = acked > self->data_time ? acked - self->data_time : 0;
	struct report_end_trouble *trouble;

	if (self->data_small && waited >= DELAYED_ACK_MIN && waited <= DELAYED_ACK_MAX && at->time - acked <= HELD_NS) {
		trouble = report_trouble_of(capture, at->firing);
		if (trouble != NULL) {
			trouble->held++;
			trouble->held_us += waited / 1000;
			if (waited / 1000 > trouble->held_max_us) {
				trouble->held_max_us = waited / 1000;
				trouble->held_packet = self->data_packet;
			}
		}
	}
	self->data_packet = at->packet;
	self->data_time = at->time;
	self->acked_time = 0;
	self->data_small = at->segment->payload_wire < SMALL_SEGMENT &&
			   at->self->nxt - at->peer->last_ack_sent == at->segment->payload_wire;
}

/* A keep-alive probe repeats the last number before what comes next. */
static void
report_sent_probe(struct report_capture *capture, const struct report_event_at *at)
{
	struct report_end_trouble *trouble = report_trouble_of(capture, at->firing);
	struct report_repeats latest = {.packet = at->packet,
					.time = at->time,
					.segments = at->self->segments_sent,
					.received = at->peer->segments_sent};

	if (trouble != NULL)
		report_count_repeat(&trouble->alive, &latest);
}

static bool
report_is_probe(const struct report_event_at *at)
{
	const struct tcp_layer *tcp = &at->segment->tcp;

	return (tcp->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) == TCP_ACK && at->segment->payload_wire <= 1 &&
	       tcp->seq + 1 == at->self->nxt && at->peer->last_ack_sent == at->self->nxt && at->peer->wnd != 0;
}

/* Timestamps: how far the clock of its peer has gone since the timestamp that a data segment echoes. */
static void
report_sent_ticks(struct report_end_events *self, const struct report_end_events *peer,
		  const struct report_event_at *at)
{
	const struct tcp_layer *tcp = &at->segment->tcp;

	if ((tcp->options & TCP_OPTION_TIMESTAMPS) == 0)
		return;
	if (self->ticks_first_time == 0) {
		self->ticks_first = tcp->tsval;
		self->ticks_first_time = at->time;
	}
	self->ticks = tcp->tsval;
	self->ticks_time = at->time;
	if (at->segment->payload_wire > 0 && peer->ticks_time != 0 && peer->ticks - tcp->tsecr < 1u << 24) {
		self->lag_ticks += peer->ticks - tcp->tsecr;
		self->lags++;
	}
}

/* Facts of all segments: the sizes that arrive, how far its packets have come, what it got twice. */
static void
report_sent_any(struct report_capture *capture, const struct report_event_at *at, bool again)
{
	struct report_end_events *ends = report_ends_of(capture, at->firing);
	struct report_end_events *self = &ends[at->firing->endpoint], *peer = &ends[1 - at->firing->endpoint];
	const struct packet *segment = at->segment;
	struct report_end_trouble *trouble;
	uint8_t ttl = segment->ip.ttl;

	if ((segment->tcp.flags & TCP_RST) == 0)
		self->ttl = ttl;
	else if (self->rst_ttl == 0)
		self->rst_ttl = ttl;
	report_sent_ident(self, segment);
	report_sent_ticks(self, peer, at);
	if (at->self->wnd > self->window_max && (segment->tcp.flags & (TCP_SYN | TCP_RST)) == 0)
		self->window_max = at->self->wnd;
	if (!again && segment->payload_wire > self->length_sent)
		self->length_sent = segment->payload_wire;
	if (segment->payload_wire > 0 && !again)
		report_sent_data(capture, at, self);
	if (report_is_probe(at))
		report_sent_probe(capture, at);
	if (segment->tcp.ack == at->peer->nxt) {
		if (segment->payload_wire == 0 && peer->data_time != 0 && peer->acked_time == 0)
			peer->acked_time = at->time;
		if (peer->length_sent > peer->length_acked)
			peer->length_acked = peer->length_sent;
		peer->length_sent = 0;
	}
	if (segment->tcp.sack_count == 0 || (int32_t)(segment->tcp.sack[0][1] - segment->tcp.ack) > 0)
		return;
	trouble = report_trouble_of(capture, at->firing);
	if (trouble != NULL)
		trouble->duplicates_reported++;
}

static void
report_capture_sent(struct report_capture *capture, const struct report_event_at *at)
{
	const struct packet *segment = at->segment;
	unsigned flags = segment->tcp.flags;
	bool again = (at->self->flags & TCP_EP_LAST_RETRANSMITTED) != 0;
	bool known = (at->peer->flags & TCP_EP_ISS_KNOWN) != 0 && at->peer->iss != 0;
	uint32_t beyond; /* how much more it acknowledges than the SYN of its peer and what was captured */

	if (at->self->segments_sent + at->peer->segments_sent == 1)
		report_capture_forget(capture, at->firing);
	report_sent_any(capture, at, again);
	if ((flags & (TCP_SYN | TCP_FIN | TCP_RST)) != 0)
		report_sent_control(capture, at, again);
	if ((flags & TCP_SYN) == 0 && (segment->tcp.window == 0 || (flags & TCP_RST) != 0))
		report_sent_closed_window(capture, at);
	if (segment->payload_wire > 0 && (flags & TCP_PSH) != 0 && !again &&
	    (at->self->flags & TCP_EP_ACTIVE_OPEN) != 0)
		report_sent_request(capture, at);
	if (!known)
		return;
	beyond = at->self->last_ack_sent - at->peer->iss - (uint32_t)tcp_captured_bytes(at->peer);
	if (beyond >= BEYOND_MIN && beyond <= BEYOND_MAX)
		report_note_missing(capture, at, beyond - 1);
	if (segment->payload_wire > 0 && !again && (at->self->flags & TCP_EP_ACTIVE_OPEN) == 0 &&
	    (at->peer->flags & TCP_EP_ACTIVE_OPEN) != 0)
		report_sent_greeting(capture, at);
}

/* A port on which nothing listens has no endpoint: its RST has a connection only where it is received. */
static void
report_capture_received(struct report_capture *capture, const struct report_event_at *at)
{
	struct report_end_events *peer = &report_ends_of(capture, at->firing)[1 - at->firing->endpoint];

	if ((at->segment->tcp.flags & TCP_RST) != 0 &&
	    (at->self->state == TCP_STATE_SYN_SENT || at->self->state == TCP_STATE_CLOSED)) {
		report_note_reset(capture, at);
		if (peer->rst_ttl == 0)
			peer->rst_ttl = at->segment->ip.ttl;
	}
}

/* ------------------------------------------------------------------------------------------------------ the events */

static void
report_capture_retransmission(struct report_capture *capture, const struct report_event_at *at)
{
	const struct tcprinfo *info = firing_argument(at->firing, 5);
	struct report_end_trouble *trouble = report_trouble_of(capture, at->firing);
	struct report_repeats latest = {.packet = at->packet,
					.time = at->time,
					.segments = at->self->segments_sent,
					.received = at->peer->segments_sent};

	if (trouble == NULL)
		return;
	if (trouble->packets[REPORT_RESENT] == 0) {
		trouble->packets[REPORT_RESENT] = at->packet;
		trouble->acked_before_loss = at->peer->last_ack_sent - at->self->iss;
		trouble->segments_before_loss = at->self->segments_sent;
	}
	if (info->tcpr_kind != RETRANSMIT_SPURIOUS && at->segment != NULL)
		trouble->stuck_length = at->segment->payload_wire;
	if (info->tcpr_kind == RETRANSMIT_SPURIOUS) {
		/* It may follow a row of others, of which it is not a part. */
		if (latest.segments == trouble->repeats.segments + 1 && latest.received == trouble->repeats.received)
			trouble->repeats.segments++;
		return;
	}
	report_count_repeat(&trouble->repeats, &latest);
	if (trouble->repeats.count > trouble->repeats_most)
		trouble->repeats_most = trouble->repeats.count;
	if (info->tcpr_kind == RETRANSMIT_SYN)
		trouble->syn_again = (struct report_opening){at->packet, latest.time, latest.received};
}

static void
report_capture_opening(struct report_capture *capture, const struct report_event_at *at)
{
	if (at->time >= flow_first_seen(capture->pass.flows, at->firing->flow) + 1000ull * REPORT_SLOW_HANDSHAKE_US)
		report_ends_of(capture, at->firing)[at->firing->endpoint].opened_packet = at->packet;
}

static bool
report_icmp_is_too_big(bool ipv4, const struct icmp_layer *icmp)
{
	return ipv4 ? icmp->type == 3 && icmp->code == 4 : icmp->type == 2;
}

/* Destination unreachable, time exceeded, parameter problem. */
static bool
report_icmp_is_undelivered(bool ipv4, const struct icmp_layer *icmp)
{
	if (ipv4)
		return icmp->type == 3 || icmp->type == 11 || icmp->type == 12;
	return icmp->type == 1 || icmp->type == 3 || icmp->type == 4;
}

/* An ICMP error for a packet of an end: too big for the path, of which the latest counts, or not delivered. */
static void
report_capture_icmp(struct report_capture *capture, struct firing *firing)
{
	const struct packet *packet = firing->packet;
	bool ipv4 = packet->transport == TRANSPORT_ICMP, big = report_icmp_is_too_big(ipv4, &packet->icmp);
	struct report_end_trouble *trouble;

	if (firing_argument(firing, 1) == NULL || report_packet_is_void(packet) ||
	    (!big && !report_icmp_is_undelivered(ipv4, &packet->icmp)))
		return;
	trouble = report_trouble_of(capture, firing);
	if (trouble == NULL)
		return;
	if (big) {
		trouble->too_big_packet = report_pass_frame(&capture->pass, firing);
		trouble->too_big_time = report_pass_time(&capture->pass, firing);
	} else if (trouble->packets[REPORT_UNREACHABLE] == 0) {
		trouble->packets[REPORT_UNREACHABLE] = report_pass_frame(&capture->pass, firing);
		trouble->rejection = (struct report_rejection){
		    .version = packet->ip.version, .type = packet->icmp.type, .code = packet->icmp.code};
		memcpy(trouble->rejection.sender, packet->ip.src, sizeof(trouble->rejection.sender));
	}
}

/* Whether the query timed out before, too. */
static bool
report_is_timeout_known(struct report_unanswered *dns, const struct report_timeout *timeout)
{
	size_t slot = (timeout->cid * 65536 + timeout->id) * 0x9e3779b97f4a7c15u >> 32 & (REPORT_TIMEOUTS - 1);
	struct report_timeout before = dns->timeouts[slot];

	dns->timeouts[slot] = *timeout;
	return before.cid == timeout->cid && before.id == timeout->id && timeout->time < before.time + DNS_REPEATS_NS;
}

static void
report_capture_query(struct report_capture *capture, struct firing *firing)
{
	const struct conninfo *connection = firing_argument(firing, 0);
	const struct dnsinfo *query = firing_argument(firing, 1);
	struct report_timeout timeout = {.cid = connection->ci_cid, .time = connection->ci_ts, .id = query->dns_id};
	struct report_unanswered *dns = &capture->dns;

	if (report_is_timeout_known(dns, &timeout) || dns->count++ >= REPORT_EVIDENCE)
		return;
	dns->first[dns->count - 1] = (struct report_query){.cid = timeout.cid, .time = timeout.time, .id = timeout.id};
}

/* Gives an end of a record its events, but not those that an earlier connection with its index had after its record. */
static void
report_capture_move(struct report_end *end, struct report_end_events *from)
{
	if (from->trouble != NULL && from->trouble->cid != end->cid)
		report_end_clear(from);
	end->events = *from;
	*from = (struct report_end_events){0};
}

/* The end of a connection, or of the captures while it is open.  The firing reports its client. */
static void
report_capture_record(struct report_capture *capture, struct firing *firing)
{
	uint64_t left_out = capture->records.left_out;
	const struct connrec *connection = firing_argument(firing, 0);
	struct report_record *record = report_records_add(&capture->records, connection);
	struct report_end_events *ends = report_ends_of(capture, firing);

	if (capture->services == NULL)
		capture->services = services_new();
	capture->no_memory |= capture->services == NULL;
	if (capture->services != NULL)
		services_take(capture->services, connection, false);
	if (record == NULL) {
		capture->no_memory |= capture->records.left_out == left_out;
		report_end_clear(&ends[REPORT_CLIENT]);
		report_end_clear(&ends[REPORT_SERVER]);
		return;
	}
	for (unsigned e = 0; e < REPORT_ENDS && record->protocol == IPPROTO_TCP; e++) {
		const struct tcp_endpoint *self =
		    &firing->flow->tcp[e == REPORT_CLIENT ? firing->endpoint : 1 - firing->endpoint];

		record->ends[e].unacknowledged = self->nxt - self->una;
		record->ends[e].scales = (self->flags & TCP_EP_WSCALE_OFFERED) != 0;
	}
	report_capture_move(&record->ends[REPORT_CLIENT], &ends[firing->endpoint]);
	report_capture_move(&record->ends[REPORT_SERVER], &ends[1 - firing->endpoint]);
}

static void
report_capture_fire(void *context, struct firing *firing)
{
	struct report_capture *capture = context;
	struct report_event_at at;

	switch (firing->probe) {
	case PROBE_IP_RECEIVE:
		report_capture_ip(capture, firing->packet);
		return;
	case PROBE_ICMP_RECEIVE:
		report_failures_take(&capture->failures, &capture->records.texts, firing,
				     report_pass_frame(&capture->pass, firing));
		report_capture_icmp(capture, firing);
		return;
	case PROBE_HTTP_REQUEST_DONE:
	case PROBE_DNS_QUERY:
	case PROBE_DNS_RESPONSE:
	case PROBE_TLS_ALERT:
		report_failures_take(&capture->failures, &capture->records.texts, firing,
				     report_pass_frame(&capture->pass, firing));
		return;
	case PROBE_DNS_TIMEOUT:
		report_capture_query(capture, firing);
		return;
	case PROBE_CONNECTION_END:
		report_capture_record(capture, firing);
		return;
	default:
		break;
	}
	if (!report_event_find(capture, firing, &at))
		return;
	if (firing->probe == PROBE_TCP_SEND)
		report_capture_sent(capture, &at);
	else if (firing->probe == PROBE_TCP_RECEIVE)
		report_capture_received(capture, &at);
	else if (firing->probe == PROBE_TCP_RETRANSMIT)
		report_capture_retransmission(capture, &at);
	else
		report_capture_opening(capture, &at);
}

/* -------------------------------------------------------------------------------------------------------- the pass */

static void
report_capture_count(struct report_capture *capture, const struct report_pass_counters *counters)
{
	capture->read = counters->observed.frames;
	capture->truncated = counters->observed.truncated;
	capture->shortened = counters->observed.anomalies[ANOMALY_TRUNCATED_RECORD];
	capture->dropped += counters->input.dropped + counters->input.interface_dropped;
	capture->damaged = counters->input.damaged;
	capture->unsupported = counters->input.unsupported;
}

/* The captures have ended, and all connections with them. */
static void
report_capture_clear(struct report_capture *capture)
{
	for (size_t i = 0; i < capture->live_count; i++) {
		report_end_clear(&capture->live[i][0]);
		report_end_clear(&capture->live[i][1]);
	}
	free(capture->live);
	capture->live = NULL;
}

bool
report_capture_read(struct report_capture *capture, struct report_passes *passes)
{
	static const enum probe_id probes[] = {PROBE_IP_RECEIVE,     PROBE_TCP_SEND,	   PROBE_TCP_RECEIVE,
					       PROBE_TCP_RETRANSMIT, PROBE_ICMP_RECEIVE,   PROBE_TCP_ACCEPT_ESTABLISHED,
					       PROBE_DNS_TIMEOUT,    PROBE_CONNECTION_END, PROBE_HTTP_REQUEST_DONE,
					       PROBE_DNS_QUERY,	     PROBE_DNS_RESPONSE,   PROBE_TLS_ALERT};
	struct report_pass_counters counters = {0};
	enum input_result result;

	capture->pass = (struct report_pass){.probes = probes,
					     .probes_count = sizeof(probes) / sizeof(probes[0]),
					     .context = capture,
					     .begin_frame = report_capture_frame,
					     .fire = report_capture_fire};
	capture->live = calloc(report_passes_flows(passes), sizeof(*capture->live));
	if (capture->live == NULL) {
		capture->no_memory = true;
		return true;
	}
	capture->records.most = REPORT_RECORDS_MAX;
	result = report_passes_first(passes, &capture->pass, &counters);
	report_capture_count(capture, &counters);
	report_volume_end(&capture->volume);
	report_capture_clear(capture);
	if (capture->records.left_out > 0)
		log_warning("the last %" PRIu64 " connections are left out: a page has %zu at most",
			    capture->records.left_out, capture->records.most);
	if (result == INPUT_DAMAGED)
		capture->status = 2;
	return result != INPUT_FAILED;
}

void
report_capture_free(struct report_capture *capture)
{
	report_records_free(&capture->records);
	services_free(capture->services);
	free(capture);
}
