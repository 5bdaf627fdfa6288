/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers and removal of TCP connections. */
#include "flow/tcp/tcp_internal.h"

/* --- timers --- */

/* Applies deferred inputs whose wait has expired: they have arrived although nothing confirmed it.  True if there was
 * one.  An ACK of a SYN,ACK remains deferred while data after it are not answered. */
static bool
tcp_flow_expire_deferred(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	bool arrived = false;
	unsigned endpoint;

	for (endpoint = 0; endpoint < 2; endpoint++) {
		struct tcp_endpoint *e = &flow->tcp[endpoint];

		if ((e->slow_reasons & TCP_SLOW_DEFERRED) == 0 || e->wait_until > now ||
		    (tcp_ack_is_deferred(e) && tcp_deferred_ack_is_tested(table, flow, endpoint)))
			continue;
		if (tcp_syn_ack_is_deferred(e) && tcp_syn_ack_is_unanswered(table, flow, endpoint)) {
			e->wait_until = UINT64_MAX;
			continue;
		}
		tcp_apply_deferred(table, flow, endpoint, e->wait_until, events);
		arrived = true;
	}
	return arrived;
}

static void
tcp_flow_expire_time_wait(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	unsigned endpoint;

	for (endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint];
		uint64_t until = e->wait_until;

		if (e->state != TCP_STATE_TIME_WAIT || until > now)
			continue;
		flow_events_add(events, EVENT_TCP_TIMEOUT, endpoint, until)->timeout = TIMEOUT_TIME_WAIT;
		tcp_change_state(table, flow, endpoint, TCP_INPUT_TIMER_2MSL, until, events);
	}
}

/* No answer came: an endpoint in SYN_SENT gives up, and so does one in SYN_RECEIVED. */
static void
tcp_flow_fail_handshake(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	unsigned endpoint;

	for (endpoint = 0; endpoint < 2; endpoint++) {
		if (flow->tcp[endpoint].state == TCP_STATE_SYN_SENT)
			flow_events_add(events, EVENT_TCP_TIMEOUT, endpoint, now)->timeout = TIMEOUT_CONNECT;
		tcp_change_state(table, flow, endpoint, TCP_INPUT_TIMER_CONNECT, now, events);
	}
}

static bool
tcp_endpoint_is_alive(const struct tcp_endpoint *e)
{
	return e->state != TCP_STATE_CLOSED && e->state != TCP_STATE_NONE;
}

static uint64_t
tcp_flow_closing_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next = UINT64_MAX;
	unsigned endpoint;

	tcp_flow_expire_time_wait(table, flow, now, events);
	for (endpoint = 0; endpoint < 2; endpoint++)
		if (flow->tcp[endpoint].state == TCP_STATE_TIME_WAIT && flow->tcp[endpoint].wait_until < next)
			next = flow->tcp[endpoint].wait_until;
	if (next != UINT64_MAX)
		return next;
	if (!tcp_endpoint_is_alive(&flow->tcp[0]) && !tcp_endpoint_is_alive(&flow->tcp[1]))
		return 0;
	next = deadline_add(flow->last_seen, flow_table_limits(table)->tcp_closing_ns);
	return next > now ? next : 0;
}

/* A SYN repeated late shows that the attempt was not given up yet.  The last interval is as long as all earlier ones
 * together. */
static uint64_t
tcp_flow_half_open_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next = deadline_add(flow->last_seen, flow_table_limits(table)->tcp_connect_ns / 2);

	if (next > now)
		return next;
	tcp_flow_fail_handshake(table, flow, now, events);
	return 0;
}

uint64_t
tcp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t next;

	if (tcp_flow_expire_deferred(table, flow, now, events)) {
		tcp_flow_reclassify(table, flow, now);
		return flow->deadline;
	}
	switch (flow_cold_class(flow_cold(table, flow))) {
	case EVICT_CLASS_HALF_OPEN:
		next = tcp_flow_half_open_deadline(table, flow, now, events);
		break;
	case EVICT_CLASS_ESTABLISHED:
		if (tcp_ack_is_deferred(&flow->tcp[0]) || tcp_ack_is_deferred(&flow->tcp[1])) {
			tcp_flow_reclassify(table, flow, now);
			return flow->deadline;
		}
		next = deadline_add(flow->last_seen, flow_table_limits(table)->tcp_idle_ns);
		next = next > now ? next : 0;
		break;
	default:
		next = tcp_flow_closing_deadline(table, flow, now, events);
		break;
	}
	if (next == 0)
		loss_pool_release(table, flow);
	return next;
}

/* Eviction does not change the connection's state, but a FIN or RST that was captured still takes effect. */
void
tcp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	tcp_apply_deferred(table, flow, 0, now, events);
	tcp_apply_deferred(table, flow, 1, now, events);
	loss_pool_release(table, flow);
}

struct deferred_flush {
	struct flow_table *table;
	uint64_t now;
};

static void
tcp_flow_flush_deferred(void *context, const struct flow *found)
{
	const struct deferred_flush *flush = context;
	struct flow_table *table = flush->table;
	struct flow_events events;
	unsigned endpoint;
	struct flow *flow;

	if (found->kind != FLOW_TCP ||
	    ((found->tcp[0].slow_reasons | found->tcp[1].slow_reasons) & TCP_SLOW_DEFERRED) == 0)
		return;
	flow = flow_table_lookup(table, &found->key, found->hash);
	if (flow == NULL)
		return;
	record_prepare(table, flow);
	events.count = 0;
	for (endpoint = 0; endpoint < 2; endpoint++) {
		/* A receiver that is silent until the end has dropped the data. */
		if (tcp_ack_is_deferred(&flow->tcp[endpoint]) &&
		    !tcp_deferred_ack_counts(table, flow, endpoint, flush->now))
			tcp_drop_deferred_ack(table, flow, endpoint);
		tcp_apply_deferred(table, flow, endpoint, flow->last_seen, &events);
	}
	flow_report_end(table, flow, false);
	flow_report_events(table, flow, &events);
	tcp_flow_reclassify(table, flow, flow->last_seen);
	flow_table_report_ended(table);
}

void
tcp_flush_deferred(struct flow_table *table, uint64_t now)
{
	struct deferred_flush flush = {table, now};

	flow_table_visit(table, tcp_flow_flush_deferred, &flush);
}
