/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp_step.h"

struct tcp_step
tcp_step_begin(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	       struct flow_events *events)
{
	return (struct tcp_step){
		.table = table,
		.flow = flow,
		.e = &flow->tcp[end],
		.peer = &flow->tcp[1 - end],
		.t = &packet->tcp,
		.events = events,
		.now = now,
		.us = (uint32_t)(now / 1000),
		.len = packet->segment,
		.end = end,
		.before = flow->tcp[end],
	};
}

static void
enter(struct tcp_step *step, enum tcp_state state)
{
	struct tcp_end *e = step->e;
	struct flow_event *event;

	e->state = (uint8_t)state;
	step->changed = true;
	if (state == TCP_STATE_TIME_WAIT) {
		e->flags &= (uint8_t)~TCP_END_RTT_TIMED;
		e->time_wait_end = deadline_after(step->now, flow_table_limits(step->table)->tcp_time_wait_ns);
	}
	if (step->quiet)
		return;
	event = event_add(step->events, EVENT_TCP_STATE_CHANGE, step->end, step->now);
	event->before = step->before;
	event->after = *e;
	step->before = *e;
}

void
tcp_step_input(struct tcp_step *step, enum tcp_input input)
{
	enum tcp_state state = (enum tcp_state)step->e->state, next = tcp_machine_next(state, input);

	if (next == state)
		return;
	if (state == TCP_STATE_NONE) {
		if (next == TCP_STATE_CLOSED || next == TCP_STATE_LISTEN) {
			/* This is what it was before anything was seen of it; now the input counts. */
			step->e->state = step->before.state = (uint8_t)next;
			next = tcp_machine_next(next, input);
		} else {
			step->quiet = true;
		}
	}
	enter(step, next);
}

void
tcp_step_tell(struct tcp_step *step, enum flow_event_kind kind)
{
	if (!step->quiet)
		event_add(step->events, kind, step->end, step->now);
}

/* --- class and deadline --- */

static bool
is_over(enum tcp_state state)
{
	return state == TCP_STATE_CLOSED || state == TCP_STATE_NONE;
}

static bool
is_opening(enum tcp_state state)
{
	return state == TCP_STATE_SYN_SENT || state == TCP_STATE_SYN_RECEIVED;
}

static bool
is_open(enum tcp_state state)
{
	return state == TCP_STATE_ESTABLISHED || state == TCP_STATE_NONE;
}

static uint64_t
earliest_time_wait(const struct flow *flow)
{
	uint64_t earliest = UINT64_MAX;
	unsigned end;

	for (end = 0; end < 2; end++)
		if (flow->tcp[end].state == TCP_STATE_TIME_WAIT && flow->tcp[end].time_wait_end < earliest)
			earliest = flow->tcp[end].time_wait_end;
	return earliest;
}

void
tcp_settle(struct flow_table *table, struct flow *flow, uint64_t now)
{
	const struct flow_limits *limits = flow_table_limits(table);
	enum tcp_state a = (enum tcp_state)flow->tcp[0].state, b = (enum tcp_state)flow->tcp[1].state;
	enum flow_class class = CLASS_CLOSING;
	uint64_t deadline;

	if (is_over(a) && is_over(b)) {
		/* Stragglers may come for one segment lifetime; they must not look like a new connection. */
		deadline = deadline_after(now, limits->tcp_time_wait_ns / 2);
	} else if (a == TCP_STATE_TIME_WAIT || b == TCP_STATE_TIME_WAIT) {
		deadline = earliest_time_wait(flow);
	} else if (is_open(a) && is_open(b)) {
		class = CLASS_ESTABLISHED;
		deadline = deadline_after(now, limits->tcp_idle_ns);
	} else if (is_opening(a) || is_opening(b)) {
		class = CLASS_HALF_OPEN;
		deadline = deadline_after(flow_start(table, flow), limits->tcp_connect_ns);
		if (deadline <= now)
			deadline = deadline_after(now, limits->tcp_connect_ns / 2);
	} else {
		deadline = deadline_after(now, limits->tcp_closing_ns);
	}
	flow_set_class(table, flow, class);
	flow_set_deadline(table, flow, deadline);
}

void
tcp_step_end(struct tcp_step *step)
{
	if (step->changed)
		tcp_settle(step->table, step->flow, step->now);
}
