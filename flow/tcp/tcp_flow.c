/* SPDX-License-Identifier: BSD-2-Clause */
/* Creation, timers and removal of TCP connections. */
#include "flow/tcp/tcp_loss.h"
#include "flow/tcp/tcp_segment.h"

/* --- new incarnations --- */

/* Whether a SYN,ACK with another ISN starts a new incarnation: not if it answers the peer's SYN; otherwise it belongs
 * to an attempt whose SYN was not captured. */
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
 * Whether a SYN starts a new incarnation.  A SYN with another ISN comes from another socket: its sender has closed the
 * old one, whatever state the capture shows.  A SYN with the same ISN is a retransmission.  (An old duplicate SYN of an
 * earlier incarnation would be taken for new; 2MSL makes that rare, and its sender then resets the answer.)
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
end_incarnation(struct flow_table *table, struct flow *flow, uint64_t now)
{
	struct flow_events events;

	events.count = 0;
	tcp_arrived(table, flow, 0, now, &events);
	tcp_arrived(table, flow, 1, now, &events);
	tcp_change_state(table, flow, flow->first, INPUT_SUPERSEDED, now, &events);
	tcp_change_state(table, flow, 1u - flow->first, INPUT_SUPERSEDED, now, &events);
	flow_report(table, flow, &events);
	detail_drop(table, flow);
	flow_remove(table, flow);
	flow_table_count(table)->reused++;
}

/* --- creation --- */

/* Whether the segment proves a connection, or at least an attempt. */
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

/* Applies FINs and RSTs whose wait has expired: they have arrived although nothing confirmed it.  True if there was
 * one. */
static bool
end_replies(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	bool arrived = false;
	unsigned end;

	for (end = 0; end < 2; end++) {
		const struct tcp_end *e = &flow->tcp[end];

		if ((e->trouble & TCP_TROUBLE_WAITS) == 0 || e->until > now)
			continue;
		tcp_arrived(table, flow, end, e->until, events);
		arrived = true;
	}
	return arrived;
}

static void
end_time_wait(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	unsigned end;

	for (end = 0; end < 2; end++) {
		const struct tcp_end *e = &flow->tcp[end];
		uint64_t until = e->until;

		if (e->state != TCP_STATE_TIME_WAIT || until > now)
			continue;
		event_add(events, EVENT_TCP_TIMEOUT, end, until)->timeout = TIMEOUT_TIME_WAIT;
		tcp_change_state(table, flow, end, INPUT_TIMER_2MSL, until, events);
	}
}

/* No answer came: an endpoint in SYN_SENT gives up, and so does one in SYN_RECEIVED. */
static void
give_up(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	unsigned end;

	for (end = 0; end < 2; end++) {
		if (flow->tcp[end].state == TCP_STATE_SYN_SENT)
			event_add(events, EVENT_TCP_TIMEOUT, end, now)->timeout = TIMEOUT_CONNECT;
		tcp_change_state(table, flow, end, INPUT_TIMER_CONNECT, now, events);
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

	end_time_wait(table, flow, now, events);
	for (end = 0; end < 2; end++)
		if (flow->tcp[end].state == TCP_STATE_TIME_WAIT && flow->tcp[end].until < next)
			next = flow->tcp[end].until;
	if (next != UINT64_MAX)
		return next;
	if (!is_alive(&flow->tcp[0]) && !is_alive(&flow->tcp[1]))
		return 0;
	next = deadline_after(flow->last, flow_table_limits(table)->tcp_closing_ns);
	return next > now ? next : 0;
}

/* A SYN repeated late shows that the attempt was not given up yet.  The last interval is as long as all earlier ones
 * together. */
static uint64_t
timer_of_half_open(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next = deadline_after(flow->last, flow_table_limits(table)->tcp_connect_ns / 2);

	if (next > now)
		return next;
	give_up(table, flow, now, events);
	return 0;
}

uint64_t
tcp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next;

	if (end_replies(table, flow, now, events)) {
		tcp_settle(table, flow, now);
		return flow->deadline;
	}
	switch (cold_class(flow_cold(table, flow))) {
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

/* Eviction does not change the connection's state, but a FIN or RST that was captured still takes effect. */
void
tcp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	tcp_arrived(table, flow, 0, now, events);
	tcp_arrived(table, flow, 1, now, events);
	detail_drop(table, flow);
}

static void
flush_flow(void *context, const struct flow *found)
{
	struct flow_table *table = context;
	struct flow_events events;
	struct flow *flow;

	if (found->kind != FLOW_TCP || ((found->tcp[0].trouble | found->tcp[1].trouble) & TCP_TROUBLE_WAITS) == 0)
		return;
	flow = flow_find(table, &found->key, found->hash);
	if (flow == NULL)
		return;
	events.count = 0;
	tcp_arrived(table, flow, 0, flow->last, &events);
	tcp_arrived(table, flow, 1, flow->last, &events);
	flow_report(table, flow, &events);
	tcp_settle(table, flow, flow->last);
}

void
tcp_flush(struct flow_table *table)
{
	flow_table_visit(table, flush_flow, table);
}
