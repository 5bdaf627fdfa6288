/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry of the TCP machine: takes the fast path or calls the full checks. */
#include "flow/tcp/tcp_fastpath.h"

#define likely(x) __builtin_expect(!!(x), 1)

#define JUDGED_FLAGS (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)

static inline bool
is_plain(const struct tcp_layer *t)
{
	return (t->flags & JUDGED_FLAGS) == TCP_ACK && (t->options & TCP_OPTION_SACK) == 0;
}

static inline struct plain_segment
plain_of(const struct packet *packet)
{
	const struct tcp_layer *t = &packet->tcp;

	return (struct plain_segment){.seq = t->seq, .ack = t->ack, .len = packet->segment, .window = t->window};
}

/* Not inlined, so that the fast path needs no stack frame. */
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
	struct plain_segment s = plain_of(packet);

	if (likely(is_plain(&packet->tcp) && plain_end(e) && plain_to_send(e, &s))) {
		plain_sent(flow_table_tcp(table), e, &s, (uint32_t)(now / 1000));
	} else {
		e->segments++;
		judge_sent(table, flow, end, packet, now, events);
	}
}

void
tcp_received(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	     struct flow_events *events)
{
	struct tcp_end *e = &flow->tcp[end];
	struct plain_segment s = plain_of(packet);

	if (likely(is_plain(&packet->tcp) && plain_end(e) && plain_to_receive(e, &s)))
		plain_received(e, &s, (uint32_t)(now / 1000));
	else
		judge_received(table, flow, end, packet, now, events);
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
