/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short path: data and ACKs of an established connection, in order.  It touches the endpoint's cache line, its
 * peer's not at all, and appends to the send log.  Everything else is judged in tcp_send.c and tcp_receive.c.
 */
#include "flow/tcp_step.h"

#define likely(x) __builtin_expect(!!(x), 1)

#define JUDGED_FLAGS (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)

static inline bool
is_plain(const struct tcp_end *e, const struct tcp_layer *t)
{
	return e->state == TCP_STATE_ESTABLISHED && e->trouble == 0 && (t->flags & JUDGED_FLAGS) == TCP_ACK &&
	       (t->options & TCP_OPTION_SACK) == 0;
}

/* Out of line, so that the short path needs no stack frame. */
static __attribute__((noinline)) void
judge_sent(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	   struct flow_events *events)
{
	struct tcp_step step = tcp_step_begin(table, flow, end, packet, now, events);

	step.e->flags &= (uint8_t)~TCP_END_RETRANSMIT;
	tcp_judge_sent(&step);
	tcp_step_end(&step);
}

static __attribute__((noinline)) void
judge_received(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	       struct flow_events *events)
{
	struct tcp_step step = tcp_step_begin(table, flow, end, packet, now, events);

	tcp_judge_received(&step);
	tcp_step_end(&step);
}

void
tcp_sent(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	 struct flow_events *events)
{
	struct tcp_end *e = &flow->tcp[end];
	const struct tcp_layer *t = &packet->tcp;

	e->segments++;
	/* An ACK beyond rcv_nxt proves that something went by unseen; a lone byte may probe a closed window. */
	if (likely(is_plain(e, t) && t->seq == e->nxt && !seq_before(e->rcv_nxt, t->ack) && packet->segment != 1)) {
		e->flags &= (uint8_t)~TCP_END_RETRANSMIT;
		e->acked = seq_max(e->acked, t->ack);
		e->wnd = (uint32_t)t->window << e->wscale;
		if (packet->segment != 0) {
			uint32_t us = (uint32_t)(now / 1000);

			e->nxt += packet->segment;
			e->bytes += packet->segment;
			log_append(flow_table_tcp(table), e, t->seq, e->nxt, us, false);
			rtt_begin(e, t->seq, us);
		}
	} else {
		judge_sent(table, flow, end, packet, now, events);
	}
}

void
tcp_received(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	     struct flow_events *events)
{
	struct tcp_end *e = &flow->tcp[end];
	const struct tcp_layer *t = &packet->tcp;
	uint32_t news = t->ack - e->una;

	/* In order, and either it acknowledges something or nothing waits for that: no duplicate ACK. */
	if (likely(is_plain(e, t) && t->seq == e->rcv_nxt && news <= e->nxt - e->una &&
		   (news != 0 || packet->segment != 0 || e->una == e->nxt))) {
		e->rcv_nxt += packet->segment;
		if (news != 0) {
			e->una = t->ack;
			rtt_acked(e, (uint32_t)(now / 1000));
		}
	} else {
		judge_received(table, flow, end, packet, now, events);
	}
}

const char *
tcp_state_name(enum tcp_state state)
{
	static const char *const names[TCP_STATE_COUNT] = {
		[TCP_STATE_NONE] = "<unknown>",
		[TCP_STATE_ESTABLISHED] = "state-established",
		[TCP_STATE_SYN_SENT] = "state-syn-sent",
		[TCP_STATE_SYN_RECEIVED] = "state-syn-received",
		[TCP_STATE_FIN_WAIT_1] = "state-fin-wait-1",
		[TCP_STATE_FIN_WAIT_2] = "state-fin-wait-2",
		[TCP_STATE_TIME_WAIT] = "state-time-wait",
		[TCP_STATE_CLOSED] = "state-closed",
		[TCP_STATE_CLOSE_WAIT] = "state-close-wait",
		[TCP_STATE_LAST_ACK] = "state-last-ack",
		[TCP_STATE_LISTEN] = "state-listen",
		[TCP_STATE_CLOSING] = "state-closing",
	};

	return (unsigned)state < TCP_STATE_COUNT ? names[state] : names[TCP_STATE_NONE];
}
