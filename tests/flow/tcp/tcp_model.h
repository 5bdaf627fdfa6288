/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two hosts with a plain TCP of their own (RFC 9293, stop-and-wait retransmission, no receive queue) and a network
 * between them that loses, doubles and delays segments by a plan.  The hosts' own states are the truth that the
 * tracker, which gets only the segments at one of the hosts, must find.
 */
#ifndef NETOBS_TESTS_FLOW_TCP_TCP_MODEL_H
#define NETOBS_TESTS_FLOW_TCP_TCP_MODEL_H

#include "tests/flow/tcp/tcp_fixture.h"

enum delivery { ARRIVES, LOST, DOUBLED, DELAYED, FATES };

enum model_script {
	CLIENT_CLOSES_FIRST,
	SERVER_CLOSES_FIRST,
	BOTH_CLOSE_AT_ONCE,
	BOTH_OPEN_AT_ONCE,
	CLIENT_HALF_CLOSES, /* and the server answers afterwards */
	SERVER_ABORTS,
	SCRIPTS
};

#define TICK (10 * MILLISECONDS)
#define LATENCY 2      /* ticks from host to host */
#define DELAY 5	       /* ticks more for a delayed segment: others overtake it */
#define RETRANSMIT 30  /* ticks until a retransmission */
#define RETRIES 12
#define PLAN_MAX 64
#define CHUNK 100u

struct host {
	enum tcp_state state;
	uint32_t iss, una, nxt, rcv_nxt;
	uint32_t send_total;	    /* bytes to send in all, from iss + 1 on */
	bool closes;	    /* the application has closed: FIN after the last byte */
	bool aborts;
	uint32_t timer;	    /* ticks left, 0 off */
	unsigned retries;
	unsigned retransmissions;
	uint16_t ident;	    /* of its latest packet: counted up, so that a segment sent again is not a duplicate */
	uint32_t highest;   /* end of what was sent at least once */
	unsigned count;
	uint8_t states[32]; /* in order, including the first */
};

struct in_flight {
	uint32_t tick;
	unsigned number; /* of equals, the earlier sent comes first */
	struct test_segment segment;
};

struct model {
	enum model_script script;
	struct host host[2];
	const uint8_t *plan; /* fate of the n-th transmission; beyond plan_length all arrive */
	unsigned plan_length, transmissions, deliveries;
	uint32_t tick;
	struct in_flight queue[128];
	unsigned queued;
	struct tcp_fixture *fixture;   /* receives the captured frames */
	unsigned capture_host;	     /* the host where it is taken */
	unsigned seen_count;
	struct test_segment seen[PLAN_MAX]; /* the first frames of the capture */
	uint64_t seen_at[PLAN_MAX];	    /* and their times since the beginning, ns */
	uint64_t began;
};

static inline void
model_capture(struct model *m, const struct test_segment *s)
{
	m->fixture->now += 1000; /* segments of one tick are a microsecond apart */
	if (m->seen_count < PLAN_MAX) {
		m->seen_at[m->seen_count] = m->fixture->now - m->began;
		m->seen[m->seen_count++] = *s;
	}
	tcp_fixture_feed(m->fixture, *s);
}

static inline void
model_set_state(struct host *h, enum tcp_state state)
{
	if (h->state == state)
		return;
	if (h->count == 0)
		h->states[h->count++] = (uint8_t)h->state;
	h->state = state;
	if (h->count < sizeof h->states)
		h->states[h->count++] = (uint8_t)state;
}

static inline void
model_enqueue(struct model *m, const struct test_segment *s, uint32_t ticks)
{
	if (m->queued == sizeof m->queue / sizeof m->queue[0])
		return;
	m->queue[m->queued++] = (struct in_flight){m->tick + ticks, m->deliveries++, *s};
}

static inline void
model_send(struct model *m, unsigned from, uint8_t flags, uint32_t seq, uint32_t len)
{
	struct host *h = &m->host[from];
	struct test_segment s = {.from = from, .flags = flags, .seq = seq, .len = len, .ident = ++h->ident};
	uint32_t end = seq + len + ((flags & (TCP_SYN | TCP_FIN)) != 0);
	unsigned fate = m->transmissions < m->plan_length ? m->plan[m->transmissions] : ARRIVES;

	if ((flags & TCP_ACK) != 0)
		s.ack = h->rcv_nxt;
	m->transmissions++;
	if (m->capture_host == from)
		model_capture(m, &s);
	if ((flags & TCP_RST) == 0 && end != seq) {
		if (h->highest != h->iss && !tcp_seq_before(seq, h->iss) && tcp_seq_before(seq, h->highest))
			h->retransmissions++;
		h->highest = tcp_seq_before(h->highest, end) ? end : h->highest;
		if (h->timer == 0)
			h->timer = RETRANSMIT;
	}
	if (fate != LOST)
		model_enqueue(m, &s, fate == DELAYED ? LATENCY + DELAY : LATENCY);
	if (fate == DOUBLED)
		model_enqueue(m, &s, LATENCY);
}

static inline uint32_t
model_fin_seq(const struct host *h)
{
	return h->iss + 1 + h->send_total;
}

/* Sends from `seq` on what may be sent, one chunk if `once`. */
static inline void
model_send_data(struct model *m, unsigned from, uint32_t seq, bool once)
{
	struct host *h = &m->host[from];

	while (tcp_seq_before(seq, model_fin_seq(h))) {
		uint32_t len = model_fin_seq(h) - seq < CHUNK ? model_fin_seq(h) - seq : CHUNK;

		model_send(m, from, TCP_ACK, seq, len);
		seq += len;
		h->nxt = tcp_seq_before(h->nxt, seq) ? seq : h->nxt;
		if (once)
			return;
	}
	if (!h->closes || seq != model_fin_seq(h))
		return;
	h->nxt = seq + 1;
	if (h->state == TCP_STATE_ESTABLISHED || h->state == TCP_STATE_SYN_RECEIVED)
		model_set_state(h, TCP_STATE_FIN_WAIT_1);
	else if (h->state == TCP_STATE_CLOSE_WAIT)
		model_set_state(h, TCP_STATE_LAST_ACK);
	model_send(m, from, TCP_FIN | TCP_ACK, seq, 0);
}

/* Runs the applications after each change. */
static inline void
model_run_application(struct model *m, unsigned which)
{
	struct host *h = &m->host[which];
	uint32_t got = h->rcv_nxt - (m->host[1 - which].iss + 1);
	bool eof = h->state == TCP_STATE_CLOSE_WAIT;

	if (h->state != TCP_STATE_ESTABLISHED && h->state != TCP_STATE_CLOSE_WAIT)
		return;
	if (which == A) {
		h->send_total = CHUNK;
		h->closes = h->closes || eof || m->script == CLIENT_HALF_CLOSES || m->script == BOTH_CLOSE_AT_ONCE ||
			    ((m->script == CLIENT_CLOSES_FIRST || m->script == BOTH_OPEN_AT_ONCE) && got >= 2 * CHUNK);
	} else {
		if (m->script == SERVER_ABORTS && got >= CHUNK) {
			model_send(m, B, TCP_RST | TCP_ACK, h->nxt, 0);
			model_set_state(h, TCP_STATE_CLOSED);
			h->timer = 0;
			return;
		}
		if (m->script != BOTH_CLOSE_AT_ONCE && (m->script != CLIENT_HALF_CLOSES ? got >= CHUNK : eof))
			h->send_total = 2 * CHUNK;
		h->closes = h->closes || eof || m->script == BOTH_CLOSE_AT_ONCE ||
			    (m->script == SERVER_CLOSES_FIRST && got >= CHUNK);
	}
	if (!tcp_seq_before(model_fin_seq(h), h->nxt))
		model_send_data(m, which, h->nxt, false);
}

static inline void
model_acknowledge(struct model *m, unsigned which)
{
	model_send(m, which, TCP_ACK, m->host[which].nxt, 0);
}

/* In SYN_SENT and LISTEN (RFC 9293 3.10.7.2, 3.10.7.3). */
static inline void
model_receive_syn(struct model *m, unsigned which, const struct test_segment *s)
{
	struct host *h = &m->host[which];
	bool acks = (s->flags & TCP_ACK) != 0;

	if ((s->flags & TCP_SYN) == 0 || (acks && s->ack != h->iss + 1))
		return;
	h->rcv_nxt = s->seq + 1;
	h->nxt = h->iss + 1;
	h->timer = 0;
	h->retries = 0;
	if (acks) {
		h->una = s->ack;
		model_set_state(h, TCP_STATE_ESTABLISHED);
		model_acknowledge(m, which);
		return;
	}
	if (h->state == TCP_STATE_SYN_SENT) {
		/* The SYN is sent again with an ACK: a reply, not a retransmission. */
		model_set_state(h, TCP_STATE_SYN_RECEIVED);
		h->retransmissions--;
	} else {
		h->highest = h->iss;
		model_set_state(h, TCP_STATE_SYN_RECEIVED);
	}
	model_send(m, which, TCP_SYN | TCP_ACK, h->iss, 0);
}

static inline void
model_receive_ack(struct host *h, uint32_t ack)
{
	if (!tcp_seq_before(h->una, ack))
		return;
	h->una = ack;
	h->retries = 0;
	h->timer = h->una == h->nxt ? 0 : RETRANSMIT;
	if (h->state == TCP_STATE_SYN_RECEIVED)
		model_set_state(h, TCP_STATE_ESTABLISHED);
	if (!h->closes || ack != model_fin_seq(h) + 1)
		return;
	if (h->state == TCP_STATE_FIN_WAIT_1)
		model_set_state(h, TCP_STATE_FIN_WAIT_2);
	else if (h->state == TCP_STATE_CLOSING)
		model_set_state(h, TCP_STATE_TIME_WAIT);
	else if (h->state == TCP_STATE_LAST_ACK)
		model_set_state(h, TCP_STATE_CLOSED);
}

static inline void
model_receive_fin(struct host *h)
{
	h->rcv_nxt++;
	if (h->state == TCP_STATE_ESTABLISHED)
		model_set_state(h, TCP_STATE_CLOSE_WAIT);
	else if (h->state == TCP_STATE_FIN_WAIT_1)
		model_set_state(h, TCP_STATE_CLOSING);
	else if (h->state == TCP_STATE_FIN_WAIT_2)
		model_set_state(h, TCP_STATE_TIME_WAIT);
}

static inline void
model_receive(struct model *m, unsigned which, const struct test_segment *s)
{
	struct host *h = &m->host[which];
	uint32_t end = s->seq + s->len;
	bool fin = (s->flags & TCP_FIN) != 0;

	if (h->state == TCP_STATE_CLOSED) {
		if ((s->flags & TCP_RST) == 0 && (s->flags & TCP_ACK) != 0 && h->count != 0)
			model_send(m, which, TCP_RST, s->ack, 0);
		return;
	}
	if (h->state == TCP_STATE_LISTEN || h->state == TCP_STATE_SYN_SENT) {
		model_receive_syn(m, which, s);
	} else if ((s->flags & TCP_RST) != 0) {
		if (s->seq == h->rcv_nxt) {
			model_set_state(h, TCP_STATE_CLOSED);
			h->timer = 0;
		} else {
			model_acknowledge(m, which);
		}
		return;
	} else if ((s->flags & TCP_SYN) != 0) {
		if (h->state == TCP_STATE_SYN_RECEIVED && (s->flags & TCP_ACK) != 0 && s->ack == h->nxt)
			model_receive_ack(h, s->ack);
		else if (h->state == TCP_STATE_SYN_RECEIVED)
			model_send(m, which, TCP_SYN | TCP_ACK, h->iss, 0);
		else
			model_acknowledge(m, which);
	} else if (tcp_seq_before(end + fin, h->rcv_nxt) || tcp_seq_before(h->nxt, s->ack) ||
		   (h->state == TCP_STATE_SYN_RECEIVED && s->ack != h->nxt)) {
		model_acknowledge(m, which); /* old, or of something never sent */
	} else {
		uint32_t before = h->rcv_nxt;

		model_receive_ack(h, s->ack);
		if (!tcp_seq_before(h->rcv_nxt, s->seq) && !tcp_seq_before(end, h->rcv_nxt)) {
			h->rcv_nxt = end;
			if (fin)
				model_receive_fin(h);
		}
		if (h->state != TCP_STATE_CLOSED && (h->rcv_nxt != before || s->len != 0 || fin))
			model_acknowledge(m, which);
	}
	model_run_application(m, which);
}

static inline void
model_timeout(struct model *m, unsigned which)
{
	struct host *h = &m->host[which];

	if (h->state == TCP_STATE_CLOSED || h->una == h->nxt || ++h->retries > RETRIES)
		return;
	h->timer = RETRANSMIT;
	if (h->state == TCP_STATE_SYN_SENT)
		model_send(m, which, TCP_SYN, h->iss, 0);
	else if (h->state == TCP_STATE_SYN_RECEIVED)
		model_send(m, which, TCP_SYN | TCP_ACK, h->iss, 0);
	else
		model_send_data(m, which, h->una, true);
}

static inline bool
model_is_over(const struct host *h)
{
	return h->state == TCP_STATE_CLOSED || h->state == TCP_STATE_TIME_WAIT;
}

static inline void
model_connect(struct model *m, unsigned which)
{
	struct host *h = &m->host[which];

	model_set_state(h, TCP_STATE_SYN_SENT);
	h->nxt = h->iss + 1;
	model_send(m, which, TCP_SYN, h->iss, 0);
}

static inline void
model_deliver(struct model *m)
{
	for (;;) {
		unsigned i, next = m->queued;
		struct test_segment s;

		for (i = 0; i < m->queued; i++)
			if (m->queue[i].tick <= m->tick &&
			    (next == m->queued || m->queue[i].number < m->queue[next].number))
				next = i;
		if (next == m->queued)
			return;
		s = m->queue[next].segment;
		m->queue[next] = m->queue[--m->queued];
		if (m->capture_host != s.from)
			model_capture(m, &s);
		model_receive(m, 1 - s.from, &s);
	}
}

/* Runs a connection to its end, captured at host `tap`.  False if it does not end because of too many losses. */
static inline bool
model_run(struct model *m, enum model_script script, const uint8_t *plan, unsigned length, struct tcp_fixture *fixture,
	  unsigned tap)
{
	unsigned i;

	memset(m, 0, sizeof *m);
	m->began = fixture->now;
	m->script = script;
	m->plan = plan;
	m->plan_length = length;
	m->fixture = fixture;
	m->capture_host = tap;
	for (i = 0; i < 2; i++) {
		m->host[i].iss = m->host[i].una = m->host[i].nxt = m->host[i].highest = i == A ? 0xffffffc0u : 7000u;
		m->host[i].state = i == A || script == BOTH_OPEN_AT_ONCE ? TCP_STATE_CLOSED : TCP_STATE_LISTEN;
	}
	model_connect(m, A);
	if (script == BOTH_OPEN_AT_ONCE)
		model_connect(m, B);
	for (m->tick = 1; m->tick < 3000; m->tick++) {
		fixture->now = m->began + m->tick * TICK;
		model_deliver(m);
		for (i = 0; i < 2; i++)
			if (m->host[i].timer != 0 && --m->host[i].timer == 0)
				model_timeout(m, i);
		if (m->queued == 0 && model_is_over(&m->host[A]) && model_is_over(&m->host[B]))
			return true;
	}
	return false;
}

#endif
