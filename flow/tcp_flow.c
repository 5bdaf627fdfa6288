/* SPDX-License-Identifier: BSD-2-Clause */
/* Births, timers and deaths of TCP connections. */
#include "flow/tcp_loss.h"
#include "flow/tcp_step.h"

/* --- the two ends begin another connection --- */

/* A SYN,ACK with another ISN: of the same attempt still if it answers the peer's SYN, else of one whose SYN was not
 * seen. */
static bool
answers_anew(const struct tcp_end *sender, const struct tcp_end *peer, const struct tcp_layer *t)
{
	if (sender->state == TCP_STATE_NONE || sender->state == TCP_STATE_CLOSED)
		return false;
	if (sender->state == TCP_STATE_SYN_RECEIVED || (sender->flags & TCP_END_ISS) == 0)
		return (peer->flags & TCP_END_SENT) != 0 &&
		       (seq_before(t->ack, peer->una) || seq_before(peer->nxt, t->ack));
	return t->ack != peer->iss + 1;
}

/*
 * A SYN with another ISN is from another socket: whoever sent it has closed the old one, in whatever state the capture
 * left it.  The same ISN again is a retransmission.  (A SYN that wandered through the network since an incarnation
 * before this one would be taken for new; 2MSL makes that rare, and its sender then resets what it gets.)
 */
static bool
is_new_incarnation(const struct flow *flow, unsigned sender, const struct tcp_layer *t)
{
	const struct tcp_end *e = &flow->tcp[sender];

	if ((t->flags & (TCP_RST | TCP_FIN)) != 0 || ((e->flags & TCP_END_ISS) != 0 && e->iss == t->seq))
		return false;
	if ((t->flags & TCP_ACK) != 0)
		return answers_anew(e, &flow->tcp[1 - sender], t);
	return (e->flags & TCP_END_SENT) != 0 || e->state != TCP_STATE_NONE;
}

static void
change_state(struct flow *flow, unsigned end, enum tcp_input input, uint64_t ts, struct flow_events *events)
{
	struct tcp_end *e = &flow->tcp[end];
	enum tcp_state next = tcp_machine_next((enum tcp_state)e->state, input);
	struct flow_event *event;

	if (next == (enum tcp_state)e->state)
		return;
	event = event_add(events, EVENT_TCP_STATE_CHANGE, end, ts);
	event->before = *e;
	e->state = (uint8_t)next;
	event->after = *e;
}

static void
end_incarnation(struct flow_table *table, struct flow *flow, uint64_t now)
{
	struct flow_events events;

	events.count = 0;
	change_state(flow, flow->first, INPUT_SUPERSEDED, now, &events);
	change_state(flow, 1u - flow->first, INPUT_SUPERSEDED, now, &events);
	flow_report(table, flow, &events);
	detail_drop(table, flow);
	flow_remove(table, flow);
	flow_table_count(table)->reused++;
}

/* --- births --- */

/* What proves a connection, or at least that somebody wants one. */
static bool
begins_flow(const struct tcp_layer *t)
{
	if ((t->flags & TCP_RST) != 0)
		return false;
	if ((t->flags & TCP_SYN) != 0)
		return (t->flags & TCP_FIN) == 0;
	return (t->flags & TCP_ACK) != 0;
}

static struct flow *
begin_flow(struct flow_table *table, const struct tcp_layer *t, const struct flow_key *key, uint32_t hash,
	   unsigned sender, uint64_t now)
{
	const struct flow_limits *limits = flow_table_limits(table);

	if ((t->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		flow_table_count(table)->midstream++;
	if ((t->flags & TCP_SYN) != 0)
		return flow_create(table, key, hash, FLOW_TCP, CLASS_HALF_OPEN, sender, now,
				   deadline_after(now, limits->tcp_connect_ns));
	return flow_create(table, key, hash, FLOW_TCP, CLASS_ESTABLISHED, sender, now,
			   deadline_after(now, limits->tcp_idle_ns));
}

struct flow *
flow_for_tcp(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
	     unsigned sender, uint64_t now)
{
	struct flow *flow = flow_find_live(table, key, hash, now);
	const struct tcp_layer *t = &packet->tcp;

	if (__builtin_expect(flow != NULL, 1)) {
		if (__builtin_expect((t->flags & TCP_SYN) == 0 || !is_new_incarnation(flow, sender, t), 1)) {
			flow->last = now;
			return flow;
		}
		end_incarnation(table, flow, now);
	}
	return begins_flow(t) ? begin_flow(table, t, key, hash, sender, now) : NULL;
}

/* --- timers --- */

/* Ends the TIME_WAIT of whoever is due. */
static void
end_time_wait(struct flow *flow, uint64_t now, struct flow_events *events)
{
	unsigned end;

	for (end = 0; end < 2; end++) {
		struct tcp_end *e = &flow->tcp[end];

		if (e->state != TCP_STATE_TIME_WAIT || e->time_wait_end > now)
			continue;
		event_add(events, EVENT_TCP_TIMEOUT, end, e->time_wait_end)->timeout = TIMEOUT_TIME_WAIT;
		change_state(flow, end, INPUT_TIMER_2MSL, e->time_wait_end, events);
	}
}

/* Nobody has answered: who sent a SYN gives up, and so does who waits for the ACK of its SYN,ACK. */
static void
give_up(struct flow *flow, uint64_t now, struct flow_events *events)
{
	unsigned end;

	for (end = 0; end < 2; end++) {
		if (flow->tcp[end].state == TCP_STATE_SYN_SENT)
			event_add(events, EVENT_TCP_TIMEOUT, end, now)->timeout = TIMEOUT_CONNECT;
		change_state(flow, end, INPUT_TIMER_CONNECT, now, events);
	}
}

static bool
is_alive(const struct tcp_end *e)
{
	return e->state != TCP_STATE_CLOSED && e->state != TCP_STATE_NONE;
}

static uint64_t
timer_of_closing(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next = UINT64_MAX;
	unsigned end;

	end_time_wait(flow, now, events);
	for (end = 0; end < 2; end++)
		if (flow->tcp[end].state == TCP_STATE_TIME_WAIT && flow->tcp[end].time_wait_end < next)
			next = flow->tcp[end].time_wait_end;
	if (next != UINT64_MAX)
		return next;
	if (!is_alive(&flow->tcp[0]) && !is_alive(&flow->tcp[1]))
		return 0;
	next = deadline_after(flow->last, flow_table_limits(table)->tcp_closing_ns);
	return next > now ? next : 0;
}

/* A SYN that is sent again late was not given up yet: the last wait is as long as all before together. */
static uint64_t
timer_of_half_open(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next = deadline_after(flow->last, flow_table_limits(table)->tcp_connect_ns / 2);

	if (next > now)
		return next;
	give_up(flow, now, events);
	return 0;
}

uint64_t
tcp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next;

	switch (flow_cold(table, flow)->class) {
	case CLASS_HALF_OPEN:
		next = timer_of_half_open(table, flow, now, events);
		break;
	case CLASS_ESTABLISHED:
		next = deadline_after(flow->last, flow_table_limits(table)->tcp_idle_ns);
		next = next > now ? next : 0;
		break;
	default:
		next = timer_of_closing(table, flow, now, events);
		break;
	}
	if (next == 0)
		detail_drop(table, flow);
	return next;
}

void
tcp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	/* Nothing happened to the connection: it is only no longer watched. */
	(void)now;
	(void)events;
	detail_drop(table, flow);
}
