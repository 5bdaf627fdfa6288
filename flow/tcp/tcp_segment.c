/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp/tcp_internal.h"

/* Longest wait for an ACK: hosts delay ACKs by at most 200 ms (RFC 1122 allows 500). */
#define TCP_DEFERRAL_MAX_NS (NANOSECONDS / 4)

/* Longest wait for the answer to a SYN,ACK: the first retransmission timeout (RFC 6298), after which an endpoint that
 * did not receive the SYN,ACK repeats its SYN, and a peer that has no ACK its SYN,ACK; and a quarter, as below. */
#define TCP_SYN_ACK_DEFERRAL_NS (NANOSECONDS / 4 * 5)

/* Wait for another SYN,ACK: the first retransmission timeout (RFC 6298) and a quarter, because kernels run this timer
 * late, and hosts send with delay.  For each SYN,ACK again, up to TCP_ACK_DEFERRALS_MAX of them, which may have come
 * since the ACK, that timeout doubled is added. */
#define TCP_ACK_DEFERRAL_NS   (NANOSECONDS / 4 * 5)
#define TCP_ACK_DEFERRALS_MAX 6u

/* Data that are not acknowledged for this long were not received (RFC 1122 allows a delayed ACK of 500 ms). */
#define TCP_UNANSWERED_US 500000u

/* Sets field by field: for a compound literal gcc clears the whole structure first. */
void
tcp_segment_begin(struct tcp_segment_ctx *ctx, struct flow_table *table, struct flow *flow, unsigned endpoint,
		  const struct packet *packet, uint64_t now, struct flow_events *events)
{
	ctx->table = table;
	ctx->flow = flow;
	ctx->ep = tcp_endpoint_of(flow, endpoint);
	ctx->peer = tcp_endpoint_of(flow, 1 - endpoint);
	ctx->packet = packet;
	ctx->header = &packet->tcp;
	ctx->events = events;
	ctx->now = now;
	ctx->us = (uint32_t)(now / 1000);
	ctx->payload_len = packet->payload_wire;
	ctx->endpoint = endpoint;
	ctx->repeat.kind = TCP_REPEAT_NONE;
	ctx->repeat.fresh = ctx->repeat.since_us = 0;
	ctx->repeat.probed = ctx->repeat.holes_known = ctx->repeat.log.found = false;
	ctx->suppress_events = ctx->changed = false;
	if (!flow_table_omits_states(table))
		ctx->before = *ctx->ep;
	flow_table_tcp_pools(table)->search_left = SEND_LOG_SEARCHES_MAX;
}

static void
tcp_endpoint_set_state(struct flow_table *table, struct flow *flow, unsigned endpoint, enum tcp_state state,
		       uint64_t now)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];

	/* Data are unanswered in FIN_WAIT_1, and before it while its FIN is unproven. */
	if (e->state == TCP_STATE_FIN_WAIT_1 || (e->state == TCP_STATE_ESTABLISHED && state != TCP_STATE_FIN_WAIT_1))
		tcp_loss_clear_unanswered_data(table, flow, endpoint);
	e->state = (uint8_t)state;
	e->slow_reasons &= (uint8_t)~TCP_SLOW_SYN_ACK_DEFERRED;
	if (state == TCP_STATE_TIME_WAIT || state == TCP_STATE_CLOSED)
		e->slow_reasons &= (uint8_t)~TCP_SLOW_DEFERRED;
	if (state == TCP_STATE_TIME_WAIT) {
		e->flags &= (uint8_t)~TCP_EP_RTT_PENDING;
		e->wait_until = deadline_add(now, flow_table_limits(table)->tcp_time_wait_ns);
	}
}

static void
tcp_enter_state(struct tcp_segment_ctx *ctx, enum tcp_state state)
{
	struct tcp_endpoint *e = ctx->ep;
	struct flow_event *event;

	tcp_endpoint_set_state(ctx->table, ctx->flow, ctx->endpoint, state, ctx->now);
	ctx->changed = true;
	if (ctx->suppress_events || flow_table_omits_states(ctx->table))
		return;
	event = flow_events_add(ctx->events, EVENT_TCP_STATE_CHANGE, ctx->endpoint, ctx->now);
	event->tcp_before = ctx->before;
	event->tcp_after = *e;
	ctx->before = *e;
}

/* The connection is reset by a RST of `by`.  A RST that answers a SYN refuses the attempt. */
static void
tcp_record_reset(struct flow_table *table, const struct flow *flow, unsigned by)
{
	const struct tcp_endpoint *e = &flow->tcp[by];
	bool refused = flow->tcp[1 - by].state == TCP_STATE_SYN_SENT && (e->flags & TCP_EP_ISS_KNOWN) == 0;

	record_set_reset(table, flow, by, refused, e->state);
}

/* The endpoint is closed by a RST.  It may have acknowledged all that its peer has sent until now: only an ACK beyond
 * shows that it goes on (tcp_goes_on_after_reset()). */
static void
tcp_mark_reset(struct flow *flow, unsigned endpoint)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];
	const struct tcp_endpoint *peer = &flow->tcp[1 - endpoint];

	if ((peer->flags & TCP_EP_SEQ_KNOWN) != 0)
		e->last_ack_sent = tcp_seq_max(e->last_ack_sent, peer->nxt);
}

void
tcp_apply_input(struct tcp_segment_ctx *ctx, enum tcp_input input)
{
	enum tcp_state state = (enum tcp_state)ctx->ep->state, next = tcp_machine_next(state, input);

	if (next == state)
		return;
	if (input == TCP_INPUT_SEND_RST || input == TCP_INPUT_RECV_RST)
		tcp_record_reset(ctx->table, ctx->flow,
				 input == TCP_INPUT_SEND_RST ? ctx->endpoint : 1 - ctx->endpoint);
	if (state == TCP_STATE_NONE) {
		if (next == TCP_STATE_CLOSED || next == TCP_STATE_LISTEN) {
			/* the state before the first captured segment; the input applies to it */
			ctx->ep->state = ctx->before.state = (uint8_t)next;
			next = tcp_machine_next(next, input);
		} else {
			ctx->suppress_events = true;
		}
	}
	tcp_enter_state(ctx, next);
	if (input == TCP_INPUT_SEND_RST || input == TCP_INPUT_RECV_RST)
		tcp_mark_reset(ctx->flow, ctx->endpoint);
}

void
tcp_report_event(struct tcp_segment_ctx *ctx, enum flow_event_kind kind)
{
	if (!ctx->suppress_events)
		flow_events_add(ctx->events, kind, ctx->endpoint, ctx->now);
}

/* --- deferred FIN or RST --- */

/* Longest time until an ACK is captured: two round trips between the capture point and the endpoint, if known. */
static uint64_t
tcp_deferral_ns(const struct flow_table *table, const struct tcp_endpoint *peer)
{
	uint64_t least = flow_table_limits(table)->tcp_reply_ns, trips = peer->srtt_us * 2000ull;

	if (trips == 0)
		return TCP_DEFERRAL_MAX_NS;
	return trips < least ? least : trips > TCP_DEFERRAL_MAX_NS ? TCP_DEFERRAL_MAX_NS : trips;
}

static uint64_t
tcp_ack_wait_ns(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	uint32_t repeats = tcp_retransmits(table, flow, endpoint);

	if (repeats > TCP_ACK_DEFERRALS_MAX)
		repeats = TCP_ACK_DEFERRALS_MAX;
	return (TCP_ACK_DEFERRAL_NS << (repeats + 1)) - TCP_ACK_DEFERRAL_NS;
}

/* An open socket acknowledges data that comes before the ACK of its FIN; a closed one is busy with the data that came
 * with it until it answers. */
static uint64_t
tcp_wait_ns(const struct flow_table *table, const struct flow *flow, unsigned endpoint, unsigned reason)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint];

	if (tcp_syn_ack_is_deferred(e))
		return TCP_SYN_ACK_DEFERRAL_NS;
	if (tcp_ack_is_deferred(e))
		return tcp_ack_wait_ns(table, flow, endpoint);
	if (reason == TCP_SLOW_FIN_ACK_DEFERRED && tcp_fin_ack_is_deferred(e))
		return TCP_DEFERRAL_MAX_NS;
	return tcp_deferral_ns(table, &flow->tcp[1 - endpoint]);
}

static enum tcp_input
tcp_deferred_input(const struct tcp_endpoint *e, unsigned reason)
{
	if (reason == TCP_SLOW_SYN_ACK_DEFERRED)
		return e->state == TCP_STATE_SYN_SENT ? TCP_INPUT_RECV_SYN_ACK : TCP_INPUT_RECV_ACK_OF_FIN;
	return reason == TCP_SLOW_FIN_DEFERRED ? TCP_INPUT_RECV_FIN : TCP_INPUT_RECV_RST;
}

void
tcp_defer(struct flow_table *table, struct flow *flow, unsigned endpoint, unsigned reason, uint64_t now)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];

	e->flags &= (uint8_t)~TCP_EP_RTT_PENDING;
	e->slow_reasons |= (uint8_t)reason;
	e->wait_until = deadline_add(now, tcp_wait_ns(table, flow, endpoint, reason));
}

void
tcp_defer_input(struct tcp_segment_ctx *ctx, unsigned reason)
{
	struct tcp_endpoint *e = ctx->ep;
	enum tcp_input input = tcp_deferred_input(e, reason);

	if (tcp_machine_next((enum tcp_state)e->state, input) == (enum tcp_state)e->state)
		return;
	if (ctx->suppress_events || flow_table_limits(ctx->table)->tcp_reply_ns == 0) {
		if (input == TCP_INPUT_RECV_SYN_ACK)
			tcp_report_event(ctx, EVENT_TCP_CONNECT_ESTABLISHED);
		tcp_apply_input(ctx, input);
		return;
	}
	tcp_defer(ctx->table, ctx->flow, ctx->endpoint, reason, ctx->now);
	/* Every connection has a SYN,ACK: without an answer it takes effect when the attempt would be given up. */
	if (input != TCP_INPUT_RECV_SYN_ACK)
		ctx->changed = true;
}

void
tcp_change_state(struct flow_table *table, struct flow *flow, unsigned endpoint, enum tcp_input input, uint64_t ts,
		 struct flow_events *events)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];
	enum tcp_state next = tcp_machine_next((enum tcp_state)e->state, input);
	struct flow_event *event;

	if (next == (enum tcp_state)e->state)
		return;
	if (input == TCP_INPUT_RECV_RST)
		tcp_record_reset(table, flow, 1 - endpoint);
	if (flow_table_omits_states(table)) {
		tcp_endpoint_set_state(table, flow, endpoint, next, ts);
	} else {
		event = flow_events_add(events, EVENT_TCP_STATE_CHANGE, endpoint, ts);
		event->tcp_before = *e;
		tcp_endpoint_set_state(table, flow, endpoint, next, ts);
		event->tcp_after = *e;
	}
	if (input == TCP_INPUT_RECV_RST)
		tcp_mark_reset(flow, endpoint);
}

/* --- deferred ACK of a SYN,ACK --- */

bool
tcp_defer_ack(struct tcp_segment_ctx *ctx)
{
	const struct tcp_endpoint *e = ctx->ep, *peer = ctx->peer;

	/* Both ends of a simultaneous open are sockets, and so is an end that has accepted data of a SYN. */
	if (flow_table_limits(ctx->table)->tcp_reply_ns == 0 || (e->flags & TCP_EP_ACTIVE_OPEN) != 0 ||
	    (peer->flags & TCP_EP_ISS_KNOWN) == 0 || e->last_ack_sent != peer->iss + 1)
		return false;
	tcp_defer(ctx->table, ctx->flow, ctx->endpoint, TCP_SLOW_ACK_DEFERRED, ctx->now);
	ctx->changed = true;
	return true;
}

uint64_t
tcp_deferred_ack_time(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	return flow->tcp[endpoint].wait_until - tcp_ack_wait_ns(table, flow, endpoint);
}

static void
tcp_establish_passive(struct flow_table *table, struct flow *flow, unsigned endpoint, struct flow_events *events)
{
	uint64_t ts = tcp_deferred_ack_time(table, flow, endpoint);

	struct flow_event *event = flow_events_add(events, EVENT_TCP_ACCEPT_ESTABLISHED, endpoint, ts);

	record_complete_handshake(table, flow, endpoint, ts);
	tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_ACK_OF_SYN, ts, events);
	event->tcp_after = flow->tcp[endpoint];
}

void
tcp_accept_deferred_ack(struct tcp_segment_ctx *ctx)
{
	tcp_establish_passive(ctx->table, ctx->flow, ctx->endpoint, ctx->events);
	ctx->changed = true;
	if (!flow_table_omits_states(ctx->table))
		ctx->before = *ctx->ep;
}

void
tcp_drop_deferred_ack(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];

	if ((e->slow_reasons & TCP_SLOW_FIN_DEFERRED) != 0)
		tcp_loss_clear_deferred_fin(table, flow, endpoint);
	e->slow_reasons &= (uint8_t)~TCP_SLOW_DEFERRED;
	e->una = e->iss;
	e->rcv_nxt = e->last_ack_sent;
}

/* Transmissions of what the endpoint must acknowledge, since its first SYN,ACK: that has answered those in a SYN. */
static struct send_log_result
tcp_find_after_deferred_ack(struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	struct tcp_pools *pools = flow_table_tcp_pools(table);
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];
	struct send_log_result sent, answer;

	if (peer->nxt == e->last_ack_sent)
		return (struct send_log_result){.found = false};
	pools->search_left = SEND_LOG_SEARCHES_MAX;
	sent = send_log_search(pools, peer, e->last_ack_sent);
	answer = send_log_search(pools, e, e->iss);
	if (!sent.found || !answer.found)
		return sent;
	sent.found = !tcp_seq_before(sent.last_us, answer.first_us);
	if (tcp_seq_before(sent.first_us, answer.first_us))
		sent.count = 1; /* at least */
	return sent;
}

bool
tcp_deferred_ack_is_tested(struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	return tcp_find_after_deferred_ack(table, flow, endpoint).found;
}

bool
tcp_deferred_ack_counts(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint64_t now)
{
	struct send_log_result sent = tcp_find_after_deferred_ack(table, flow, endpoint);

	return !sent.found ||
	       (sent.count == 1 && tcp_us_since(sent.last_us, (uint32_t)(now / 1000)) < TCP_UNANSWERED_US);
}

/* The wait of the deferred ACK, if there is one, is over. */
static void
tcp_apply_deferred_ack(struct flow_table *table, struct flow *flow, unsigned endpoint, uint64_t now,
		       struct flow_events *events)
{
	if (!tcp_ack_is_deferred(&flow->tcp[endpoint]))
		return;
	if (tcp_deferred_ack_counts(table, flow, endpoint, now))
		tcp_establish_passive(table, flow, endpoint, events);
	else
		tcp_drop_deferred_ack(table, flow, endpoint);
}

bool
tcp_syn_ack_is_unanswered(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	return tcp_retransmits(table, flow, 1 - endpoint) != 0;
}

void
tcp_apply_deferred(struct flow_table *table, struct flow *flow, unsigned endpoint, uint64_t ts,
		   struct flow_events *events)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];
	unsigned reasons;

	tcp_apply_deferred_ack(table, flow, endpoint, ts, events);
	reasons = e->slow_reasons & TCP_SLOW_DEFERRED;
	e->slow_reasons &= (uint8_t)~TCP_SLOW_DEFERRED;
	if ((reasons & TCP_SLOW_SYN_ACK_DEFERRED) != 0 && e->state == TCP_STATE_SYN_SENT &&
	    !tcp_syn_ack_is_unanswered(table, flow, endpoint)) {
		flow_events_add(events, EVENT_TCP_CONNECT_ESTABLISHED, endpoint, ts);
		tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_SYN_ACK, ts, events);
	}
	if ((reasons & TCP_SLOW_FIN_DEFERRED) != 0)
		tcp_loss_clear_deferred_fin(table, flow, endpoint);
	/* The FIN was not confirmed in time.  If an ACK of the endpoint's own FIN followed it, that ACK takes effect
	 * first. */
	if (tcp_endpoint_fin_is_acked(e))
		tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_ACK_OF_FIN, ts, events);
	if ((reasons & TCP_SLOW_FIN_DEFERRED) != 0)
		tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_FIN, ts, events);
	if ((reasons & TCP_SLOW_RST_DEFERRED) != 0)
		tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_RST, ts, events);
}

/* --- class and deadline --- */

static bool
tcp_state_is_closed(enum tcp_state state)
{
	return state == TCP_STATE_CLOSED || state == TCP_STATE_NONE;
}

static bool
tcp_state_is_handshake(enum tcp_state state)
{
	return state == TCP_STATE_SYN_SENT || state == TCP_STATE_SYN_RECEIVED;
}

/* A deferred ACK counts like an accepted one until its wait is over. */
static bool
tcp_endpoint_is_open(const struct tcp_endpoint *e, uint64_t now)
{
	return e->state == TCP_STATE_ESTABLISHED || e->state == TCP_STATE_NONE ||
	       (tcp_ack_is_deferred(e) && e->wait_until > now);
}

/* Earliest end of a wait of an endpoint: TIME_WAIT, or that of a deferred input. */
static uint64_t
tcp_flow_earliest_wait(const struct flow *flow, uint64_t now)
{
	uint64_t earliest = UINT64_MAX;
	unsigned endpoint;

	for (endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint];

		if ((e->state == TCP_STATE_TIME_WAIT || (e->slow_reasons & TCP_SLOW_DEFERRED) != 0) &&
		    e->wait_until < earliest && !(tcp_ack_is_deferred(e) && e->wait_until <= now))
			earliest = e->wait_until;
	}
	return earliest;
}

void
tcp_flow_reclassify(struct flow_table *table, struct flow *flow, uint64_t now)
{
	const struct flow_limits *limits = flow_table_limits(table);
	enum tcp_state a = (enum tcp_state)flow->tcp[0].state, b = (enum tcp_state)flow->tcp[1].state;
	enum evict_class class = EVICT_CLASS_CLOSING;
	uint64_t deadline, wait = tcp_flow_earliest_wait(flow, now);

	if (tcp_state_is_closed(a) && tcp_state_is_closed(b)) {
		/* For one segment lifetime late packets must not look like a new connection. */
		deadline = deadline_add(now, limits->tcp_time_wait_ns / 2);
	} else if (a == TCP_STATE_TIME_WAIT || b == TCP_STATE_TIME_WAIT) {
		deadline = wait;
	} else if (tcp_endpoint_is_open(&flow->tcp[0], now) && tcp_endpoint_is_open(&flow->tcp[1], now)) {
		class = EVICT_CLASS_ESTABLISHED;
		deadline = deadline_add(now, limits->tcp_idle_ns);
	} else if (tcp_state_is_handshake(a) || tcp_state_is_handshake(b)) {
		class = EVICT_CLASS_HALF_OPEN;
		deadline = deadline_add(flow_cold(table, flow)->first_seen, limits->tcp_connect_ns);
		if (deadline <= now)
			deadline = deadline_add(now, limits->tcp_connect_ns / 2);
	} else {
		deadline = deadline_add(now, limits->tcp_closing_ns);
	}
	flow_set_evict_class(table, flow, class);
	flow_set_deadline(table, flow, wait < deadline ? wait : deadline);
	record_check_end(table, flow);
}

void
tcp_segment_end(struct tcp_segment_ctx *ctx)
{
	if (ctx->changed)
		tcp_flow_reclassify(ctx->table, ctx->flow, ctx->now);
}
