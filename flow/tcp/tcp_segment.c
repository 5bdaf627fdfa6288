/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp/tcp_loss.h"
#include "flow/tcp/tcp_segment.h"

/* Longest wait for an answer: hosts delay ACKs by at most 200 ms (RFC 1122 allows 500). */
#define LONGEST_REPLY_NS (NANOSECONDS / 4)

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
set_state(struct flow_table *table, struct tcp_end *e, enum tcp_state state, uint64_t now)
{
	e->state = (uint8_t)state;
	if (state == TCP_STATE_TIME_WAIT || state == TCP_STATE_CLOSED)
		e->trouble &= (uint8_t)~TCP_TROUBLE_WAITS;
	if (state == TCP_STATE_TIME_WAIT) {
		e->flags &= (uint8_t)~TCP_END_RTT_TIMED;
		e->until = deadline_after(now, flow_table_limits(table)->tcp_time_wait_ns);
	}
}

static void
enter(struct tcp_step *step, enum tcp_state state)
{
	struct tcp_end *e = step->e;
	struct flow_event *event;

	set_state(step->table, e, state, step->now);
	step->changed = true;
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
			/* the state before the first captured segment; the input applies to it */
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

/* --- waiting FIN or RST --- */

/* Longest time until an answer is captured: two round trips between the capture point and the endpoint, if known. */
static uint64_t
longest_reply(const struct tcp_step *step)
{
	uint64_t least = flow_table_limits(step->table)->tcp_reply_ns, trips = step->peer->srtt_us * 2000ull;

	if (trips == 0)
		return LONGEST_REPLY_NS;
	return trips < least ? least : trips > LONGEST_REPLY_NS ? LONGEST_REPLY_NS : trips;
}

void
tcp_step_await(struct tcp_step *step, unsigned what)
{
	enum tcp_input input = what == TCP_TROUBLE_FIN ? INPUT_RECV_FIN : INPUT_RECV_RST;
	struct tcp_end *e = step->e;

	if (tcp_machine_next((enum tcp_state)e->state, input) == (enum tcp_state)e->state)
		return;
	if (step->quiet || flow_table_limits(step->table)->tcp_reply_ns == 0) {
		tcp_step_input(step, input);
		return;
	}
	e->flags &= (uint8_t)~TCP_END_RTT_TIMED;
	e->trouble |= (uint8_t)what;
	e->until = deadline_after(step->now, longest_reply(step));
	step->changed = true;
}

void
tcp_change_state(struct flow_table *table, struct flow *flow, unsigned end, enum tcp_input input, uint64_t ts,
		 struct flow_events *events)
{
	struct tcp_end *e = &flow->tcp[end];
	enum tcp_state next = tcp_machine_next((enum tcp_state)e->state, input);
	struct flow_event *event;

	if (next == (enum tcp_state)e->state)
		return;
	event = event_add(events, EVENT_TCP_STATE_CHANGE, end, ts);
	event->before = *e;
	set_state(table, e, next, ts);
	event->after = *e;
}

void
tcp_arrived(struct flow_table *table, struct flow *flow, unsigned end, uint64_t ts, struct flow_events *events)
{
	struct tcp_end *e = &flow->tcp[end];
	unsigned what = e->trouble & TCP_TROUBLE_WAITS;

	e->trouble &= (uint8_t)~TCP_TROUBLE_WAITS;
	if ((what & TCP_TROUBLE_FIN) != 0)
		tcp_loss_fin_is_over(table, flow, end);
	/* The FIN was not confirmed in time.  If an ACK of the endpoint's own FIN came behind it, that ACK takes effect
	 * first. */
	if (tcp_fin_is_acked(e))
		tcp_change_state(table, flow, end, INPUT_RECV_ACK_OF_FIN, ts, events);
	if ((what & TCP_TROUBLE_FIN) != 0)
		tcp_change_state(table, flow, end, INPUT_RECV_FIN, ts, events);
	if ((what & TCP_TROUBLE_RST) != 0)
		tcp_change_state(table, flow, end, INPUT_RECV_RST, ts, events);
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

/* End of the first wait of an endpoint: TIME_WAIT, or the wait for a FIN or RST. */
static uint64_t
earliest_wait(const struct flow *flow)
{
	uint64_t earliest = UINT64_MAX;
	unsigned end;

	for (end = 0; end < 2; end++) {
		const struct tcp_end *e = &flow->tcp[end];

		if ((e->state == TCP_STATE_TIME_WAIT || (e->trouble & TCP_TROUBLE_WAITS) != 0) && e->until < earliest)
			earliest = e->until;
	}
	return earliest;
}

void
tcp_settle(struct flow_table *table, struct flow *flow, uint64_t now)
{
	const struct flow_limits *limits = flow_table_limits(table);
	enum tcp_state a = (enum tcp_state)flow->tcp[0].state, b = (enum tcp_state)flow->tcp[1].state;
	enum flow_class class = CLASS_CLOSING;
	uint64_t deadline, wait = earliest_wait(flow);

	if (is_over(a) && is_over(b)) {
		/* For one segment lifetime late packets must not look like a new connection. */
		deadline = deadline_after(now, limits->tcp_time_wait_ns / 2);
	} else if (a == TCP_STATE_TIME_WAIT || b == TCP_STATE_TIME_WAIT) {
		deadline = wait;
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
	flow_set_deadline(table, flow, wait < deadline ? wait : deadline);
}

void
tcp_step_end(struct tcp_step *step)
{
	if (step->changed)
		tcp_settle(step->table, step->flow, step->now);
}
