/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the TCP tracker: two ends, A (10.0.0.1:1000, end 0) and B (10.0.0.2:80, end 1), whose segments are
 * given as a list, and the tracker's events as one line of words: "A:connect-request A:CLOSED>SYN_SENT ...".
 */
#ifndef NETOBS_TESTS_FLOW_TCP_TCP_FIXTURE_H
#define NETOBS_TESTS_FLOW_TCP_TCP_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/tcp/tcp.h"

enum { A, B };

#define MILLISECONDS 1000000ull
#define TALK_BEGIN (1700000000ull * NANOSECONDS)

/* Sequence numbers are as given: A's SYN is 1000 and B's 5000 by custom. */
struct segment {
	unsigned from;
	uint8_t flags;
	uint32_t seq, ack;
	uint32_t len;
	int window;    /* 0: 10000; -1: a closed window */
	int wscale;    /* 0: no option; else the shift plus one */
	uint16_t mss;
	bool sack_ok;
	uint32_t tsval, tsecr; /* tsval 0: no option */
	uint8_t sacks;
	uint32_t sack[4][2];
};

/* A segment without options, without and with data. */
static inline struct segment
bare(unsigned from, unsigned flags, uint32_t seq, uint32_t ack)
{
	return (struct segment){.from = from, .flags = (uint8_t)flags, .seq = seq, .ack = ack};
}

static inline struct segment
data(unsigned from, uint32_t seq, uint32_t ack, uint32_t len)
{
	return (struct segment){.from = from, .flags = TCP_ACK, .seq = seq, .ack = ack, .len = len};
}

struct talk {
	struct flow_table *table;
	uint64_t now;
	struct flow *flow;     /* of the segment reported last; NULL if it had none */
	size_t length;
	char trace[4096];
	unsigned state_changes;
	unsigned illegal;      /* of these, the transitions that RFC 9293 does not have */
	struct flow_event last[2]; /* the latest event of each end */
};

static const char *const talk_states[TCP_STATE_COUNT] = {
	"NONE",	      "ESTABLISHED", "SYN_SENT", "SYN_RECEIVED", "FIN_WAIT_1", "FIN_WAIT_2",
	"TIME_WAIT", "CLOSED",	     "CLOSE_WAIT", "LAST_ACK",	 "LISTEN",     "CLOSING",
};

/* The transitions of RFC 9293 figure 5, those of its text that the figure leaves out (a RST or the user's ABORT closes
 * from everywhere, a FIN before the ACK of a SYN), and Linux's end of TIME_WAIT by RST. */
static inline bool
is_legal_transition(unsigned from, unsigned to)
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
talk_append(struct talk *talk, const char *text)
{
	int n = snprintf(talk->trace + talk->length, sizeof talk->trace - talk->length, "%s%s",
			 talk->length == 0 ? "" : " ", text);

	if (n > 0 && talk->length + (size_t)n < sizeof talk->trace)
		talk->length += (size_t)n;
}

static inline void
talk_event(struct talk *talk, const struct flow_event *event)
{
	static const char *const kinds[] = {
		"connect-request", "connect-established", "connect-refused", "accept-established", "accept-refused",
	};
	static const char *const why[] = {"none", "fast", "timeout", "probe", "spurious", "syn"};
	static const char *const timeouts[] = {"none", "retransmit", "persist", "keepalive", "time-wait", "connect"};
	char end = event->end == A ? 'A' : 'B', text[80];

	talk->last[event->end] = *event;
	switch (event->kind) {
	case EVENT_TCP_STATE_CHANGE:
		talk->state_changes++;
		talk->illegal += !is_legal_transition(event->before.state, event->after.state);
		snprintf(text, sizeof text, "%c:%s>%s", end, talk_states[event->before.state],
			 talk_states[event->after.state]);
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
	talk_append(talk, text);
}

static inline void
talk_report(void *context, struct flow *flow, const struct flow_events *events)
{
	unsigned i;

	(void)flow;
	for (i = 0; i < events->count; i++)
		talk_event(context, &events->event[i]);
}

/* A new table; what comes in takes effect after `reply_ns` at the latest. */
static inline void
talk_begin(struct talk *talk, uint64_t reply_ns)
{
	struct flow_limits limits = flow_limits_default();

	memset(talk, 0, sizeof *talk);
	limits.flows = 1000;
	limits.tcp_reply_ns = reply_ns;
	talk->table = flow_table_new(&limits, 0x5eed, talk_report, talk);
	talk->now = TALK_BEGIN;
	if (talk->table == NULL)
		abort();
}

static inline void
talk_end(struct talk *talk)
{
	flow_table_free(talk->table);
	talk->table = NULL;
}

static inline struct packet
talk_packet(const struct segment *s)
{
	static const uint8_t address[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
	static const uint16_t port[2] = {1000, 80};
	struct packet packet = {.network = NETWORK_IPV4, .transport = TRANSPORT_TCP, .segment = s->len};
	struct tcp_layer *t = &packet.tcp;

	packet.ip.version = 4;
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
	t->sacks = s->sacks;
	memcpy(t->sack, s->sack, sizeof t->sack);
	t->options = (uint8_t)((s->wscale != 0 ? TCP_OPTION_WSCALE : 0) | (s->mss != 0 ? TCP_OPTION_MSS : 0) |
			       (s->sack_ok ? TCP_OPTION_SACK_PERMITTED : 0) | (s->sacks != 0 ? TCP_OPTION_SACK : 0) |
			       (s->tsval != 0 ? TCP_OPTION_TIMESTAMPS : 0));
	return packet;
}

/* One segment is captured now. */
static inline void
tell(struct talk *talk, struct segment s)
{
	struct packet packet = talk_packet(&s);
	struct flow_events events;
	struct flow_key key;
	unsigned sender, i;

	flow_table_run_timers(talk->table, talk->now);
	flow_key_of(&packet, &key, &sender);
	talk->flow = flow_for_tcp(talk->table, &packet, &key, flow_hash(talk->table, &key), sender, talk->now);
	if (talk->flow == NULL)
		return;
	events.count = 0;
	tcp_sent(talk->table, talk->flow, sender, &packet, talk->now, &events);
	for (i = 0; i < events.count; i++)
		talk_event(talk, &events.event[i]);
	events.count = 0;
	tcp_received(talk->table, talk->flow, 1 - sender, &packet, talk->now, &events);
	for (i = 0; i < events.count; i++)
		talk_event(talk, &events.event[i]);
}

static inline void
pass(struct talk *talk, uint64_t ns)
{
	talk->now += ns;
	flow_table_run_timers(talk->table, talk->now);
}

/* The events since the last call; clears them. */
static inline const char *
told(struct talk *talk)
{
	static char text[sizeof talk->trace];

	memcpy(text, talk->trace, sizeof text);
	text[talk->length] = '\0';
	talk->length = 0;
	talk->trace[0] = '\0';
	return text;
}

static inline enum tcp_state
state_of(const struct talk *talk, unsigned end)
{
	return (enum tcp_state)talk->flow->tcp[end].state;
}

/* A opens to B: both are ESTABLISHED, A's next byte is 1001 and B's 5001. */
static inline void
shake_hands(struct talk *talk)
{
	tell(talk, (struct segment){.from = A, .flags = TCP_SYN, .seq = 1000, .mss = 1000, .sack_ok = true});
	tell(talk, (struct segment){.from = B,
				    .flags = TCP_SYN | TCP_ACK,
				    .seq = 5000,
				    .ack = 1001,
				    .mss = 1000,
				    .sack_ok = true});
	tell(talk, bare(A, TCP_ACK, 1001, 5001));
}

#endif
