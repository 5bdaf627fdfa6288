/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the TCP tracker: two ends, A (10.0.0.1:1000, end 0) and B (10.0.0.2:80, end 1), whose segments are
 * given as a list, and the tracker's events as one line of text: "A:connect-request A:CLOSED>SYN_SENT ...".
 */
#ifndef NETOBS_TESTS_FLOW_TCP_TCP_FIXTURE_H
#define NETOBS_TESTS_FLOW_TCP_TCP_FIXTURE_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/tcp/tcp.h"

enum { A, B };

#define MILLISECONDS 1000000ull
#define FIXTURE_BEGIN (1700000000ull * NANOSECONDS)

/* Sequence numbers are as given: A's SYN is 1000 and B's 5000 by custom. */
struct test_segment {
	unsigned from;
	uint8_t flags;
	uint32_t seq, ack;
	uint32_t len;
	int window;    /* 0: 10000; -1: a closed window */
	int wscale;    /* 0: no option; else the shift plus one */
	uint16_t mss;
	bool sack_ok;
	uint16_t ident;	       /* IPv4 identification */
	uint32_t tsval, tsecr; /* tsval 0: no option */
	bool zero_stamp;       /* the option with a tsval of 0 */
	uint8_t sacks;
	uint32_t sack[4][2];
};

/* A segment without options, without and with data. */
static inline struct test_segment
segment_empty(unsigned from, unsigned flags, uint32_t seq, uint32_t ack)
{
	return (struct test_segment){.from = from, .flags = (uint8_t)flags, .seq = seq, .ack = ack};
}

static inline struct test_segment
segment_data(unsigned from, uint32_t seq, uint32_t ack, uint32_t len)
{
	return (struct test_segment){.from = from, .flags = TCP_ACK, .seq = seq, .ack = ack, .len = len};
}

struct tcp_fixture {
	struct flow_table *table;
	uint64_t now;
	struct flow *flow;     /* of the segment reported last; NULL if it had no flow */
	size_t length;
	char trace[4096];
	unsigned state_changes;
	unsigned illegal;      /* of these, the transitions that RFC 9293 does not have */
	struct flow_event last[2]; /* the latest event of each end */
};

static const char *const fixture_states[TCP_STATE_COUNT] = {
	"NONE",	      "ESTABLISHED", "SYN_SENT", "SYN_RECEIVED", "FIN_WAIT_1", "FIN_WAIT_2",
	"TIME_WAIT", "CLOSED",	     "CLOSE_WAIT", "LAST_ACK",	 "LISTEN",     "CLOSING",
};

/* The transitions of RFC 9293 figure 5, those of its text that the figure leaves out (a RST or the user's ABORT closes
 * from everywhere, a FIN before the ACK of a SYN), and Linux's end of TIME_WAIT by RST. */
static inline bool
tcp_transition_is_legal(unsigned from, unsigned to)
{
	static const uint8_t legal[][2] = {
		{TCP_STATE_CLOSED, TCP_STATE_SYN_SENT},	       {TCP_STATE_LISTEN, TCP_STATE_SYN_RECEIVED},
		{TCP_STATE_LISTEN, TCP_STATE_SYN_SENT},	       {TCP_STATE_SYN_SENT, TCP_STATE_SYN_RECEIVED},
		{TCP_STATE_SYN_SENT, TCP_STATE_ESTABLISHED},   {TCP_STATE_SYN_RECEIVED, TCP_STATE_ESTABLISHED},
		{TCP_STATE_SYN_RECEIVED, TCP_STATE_FIN_WAIT_1}, {TCP_STATE_SYN_RECEIVED, TCP_STATE_CLOSE_WAIT},
		{TCP_STATE_ESTABLISHED, TCP_STATE_FIN_WAIT_1}, {TCP_STATE_ESTABLISHED, TCP_STATE_CLOSE_WAIT},
		{TCP_STATE_FIN_WAIT_1, TCP_STATE_FIN_WAIT_2},  {TCP_STATE_FIN_WAIT_1, TCP_STATE_CLOSING},
		{TCP_STATE_FIN_WAIT_2, TCP_STATE_TIME_WAIT},   {TCP_STATE_CLOSING, TCP_STATE_TIME_WAIT},
		{TCP_STATE_CLOSE_WAIT, TCP_STATE_LAST_ACK},
	};
	unsigned i;

	if (to == TCP_STATE_CLOSED)
		return from != TCP_STATE_CLOSED && from != TCP_STATE_LISTEN && from != TCP_STATE_NONE;
	for (i = 0; i < sizeof legal / sizeof legal[0]; i++)
		if (legal[i][0] == from && legal[i][1] == to)
			return true;
	return false;
}

static inline void
tcp_fixture_append(struct tcp_fixture *fixture, const char *text)
{
	int n = snprintf(fixture->trace + fixture->length, sizeof fixture->trace - fixture->length, "%s%s",
			 fixture->length == 0 ? "" : " ", text);

	if (n > 0 && fixture->length + (size_t)n < sizeof fixture->trace)
		fixture->length += (size_t)n;
}

static inline void
tcp_fixture_trace_event(struct tcp_fixture *fixture, const struct flow_event *event)
{
	static const char *const kinds[] = {
		"connect-request", "connect-established", "connect-refused", "accept-established", "accept-refused",
	};
	static const char *const why[] = {"none", "fast", "timeout", "probe", "spurious", "syn"};
	static const char *const timeouts[] = {"none", "retransmit", "persist", "keepalive", "time-wait", "connect"};
	char end = event->endpoint == A ? 'A' : 'B', text[80];

	fixture->last[event->endpoint] = *event;
	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		fixture->state_changes++;
		fixture->illegal += !tcp_transition_is_legal(event->tcp_before.state, event->tcp_after.state);
		snprintf(text, sizeof text, "%c:%s>%s", end, fixture_states[event->tcp_before.state],
			 fixture_states[event->tcp_after.state]);
		break;
	case EVENT_TCP_RETRANSMIT:
		snprintf(text, sizeof text, "%c:retransmit(%s,%u)", end, why[event->retransmission.kind],
			 event->retransmission.count);
		break;
	case EVENT_TCP_TIMEOUT:
		snprintf(text, sizeof text, "%c:timeout(%s)", end, timeouts[event->timeout]);
		break;
	default:
		snprintf(text, sizeof text, "%c:%s", end, kinds[event->kind]);
		break;
	}
	tcp_fixture_append(fixture, text);
}

static inline void
tcp_fixture_on_events(void *context, struct flow *flow, const struct flow_events *events)
{
	unsigned i;

	(void)flow;
	for (i = 0; i < events->count; i++)
		tcp_fixture_trace_event(context, &events->event[i]);
}

/* A new table; received segments take effect after `reply_ns` at the latest. */
static inline void
tcp_fixture_setup(struct tcp_fixture *fixture, uint64_t reply_ns)
{
	struct flow_limits limits = flow_limits_default();

	memset(fixture, 0, sizeof *fixture);
	limits.flows = 1000;
	limits.tcp_reply_ns = reply_ns;
	fixture->table = flow_table_new(&limits, 0x5eed, tcp_fixture_on_events, fixture);
	fixture->now = FIXTURE_BEGIN;
	if (fixture->table == NULL)
		abort();
}

static inline void
tcp_fixture_teardown(struct tcp_fixture *fixture)
{
	flow_table_free(fixture->table);
	fixture->table = NULL;
}

static inline struct packet
tcp_fixture_packet(const struct test_segment *s)
{
	static const uint8_t address[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
	static const uint16_t port[2] = {1000, 80};
	struct packet packet = {.network = NETWORK_IPV4, .transport = TRANSPORT_TCP, .payload_wire = s->len};
	struct tcp_layer *t = &packet.tcp;

	packet.ip.version = 4;
	packet.ip.fragment_id = s->ident;
	memcpy(packet.ip.src, address[s->from], 4);
	memcpy(packet.ip.dst, address[1 - s->from], 4);
	t->sport = port[s->from];
	t->dport = port[1 - s->from];
	t->flags = s->flags;
	t->seq = s->seq;
	t->ack = s->ack;
	t->window = (uint16_t)(s->window == 0 ? 10000 : s->window < 0 ? 0 : s->window);
	t->wscale = (uint8_t)(s->wscale == 0 ? 0 : s->wscale - 1);
	t->mss = s->mss;
	t->tsval = s->tsval;
	t->tsecr = s->tsecr;
	t->sack_count = s->sacks;
	memcpy(t->sack, s->sack, sizeof t->sack);
	t->options = (uint8_t)((s->wscale != 0 ? TCP_OPTION_WSCALE : 0) | (s->mss != 0 ? TCP_OPTION_MSS : 0) |
			       (s->sack_ok ? TCP_OPTION_SACK_PERMITTED : 0) | (s->sacks != 0 ? TCP_OPTION_SACK : 0) |
			       (s->tsval != 0 || s->zero_stamp ? TCP_OPTION_TIMESTAMPS : 0));
	return packet;
}

/* One segment is captured now. */
static inline void
tcp_fixture_feed(struct tcp_fixture *fixture, struct test_segment s)
{
	struct packet packet = tcp_fixture_packet(&s);
	struct flow_events events;
	struct flow_key key;
	enum anomaly expected, received;
	unsigned sender, i;

	flow_table_run_timers(fixture->table, fixture->now);
	flow_key_from_packet(&packet, &key, &sender);
	fixture->flow = flow_table_lookup_tcp(fixture->table, &packet, &key, flow_key_hash(fixture->table, &key),
					      sender, fixture->now);
	if (fixture->flow == NULL)
		return;
	events.count = 0;
	tcp_segment_sent(fixture->table, fixture->flow, sender, &packet, fixture->now, &events);
	for (i = 0; i < events.count; i++)
		tcp_fixture_trace_event(fixture, &events.event[i]);
	events.count = 0;
	expected = tcp_segment_check(fixture->table, fixture->flow, 1 - sender, &packet);
	received = tcp_segment_received(fixture->table, fixture->flow, 1 - sender, &packet, fixture->now, &events);
	assert(received == expected);
	for (i = 0; i < events.count; i++)
		tcp_fixture_trace_event(fixture, &events.event[i]);
}

static inline void
fastpath_finish_frame(struct tcp_fixture *fixture, uint64_t ns)
{
	fixture->now += ns;
	flow_table_run_timers(fixture->table, fixture->now);
}

/* The events since the last call; clears them. */
static inline const char *
tcp_fixture_take_trace(struct tcp_fixture *fixture)
{
	static char text[sizeof fixture->trace];

	memcpy(text, fixture->trace, sizeof text);
	text[fixture->length] = '\0';
	fixture->length = 0;
	fixture->trace[0] = '\0';
	return text;
}

static inline enum tcp_state
tcp_fixture_state(const struct tcp_fixture *fixture, unsigned endpoint)
{
	return (enum tcp_state)fixture->flow->tcp[endpoint].state;
}

/* A opens to B: both are ESTABLISHED, A's next byte is 1001 and B's 5001.  The ACK of the SYN,ACK takes effect. */
static inline void
tcp_fixture_handshake(struct tcp_fixture *fixture)
{
	tcp_fixture_feed(fixture, (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000, .mss = 1000,
							.sack_ok = true});
	tcp_fixture_feed(fixture, (struct test_segment){.from = B,
				    .flags = TCP_SYN | TCP_ACK,
				    .seq = 5000,
				    .ack = 1001,
				    .mss = 1000,
				    .sack_ok = true});
	tcp_fixture_feed(fixture, segment_empty(A, TCP_ACK, 1001, 5001));
	tcp_flush_deferred(fixture->table, fixture->now);
}

#endif
