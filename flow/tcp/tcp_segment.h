/* SPDX-License-Identifier: BSD-2-Clause */
/* Processing of one segment for one endpoint, shared by the files of the TCP machine. */
#ifndef NETOBS_FLOW_TCP_TCP_SEGMENT_H
#define NETOBS_FLOW_TCP_TCP_SEGMENT_H

#include "flow/flow_internal.h"
#include "flow/tcp/tcp.h"
#include "flow/tcp/tcp_machine.h"
#include "flow/tcp/tcp_pools.h"

struct tcp_step {
	struct flow_table *table;
	struct flow *flow;
	struct tcp_end *e;	    /* the endpoint that sends or receives */
	const struct tcp_end *peer; /* the other endpoint, read only */
	const struct tcp_layer *t;
	struct flow_events *events;
	uint64_t now;
	uint32_t us;	/* the same in microseconds modulo 2^32 */
	uint32_t len;	/* payload */
	unsigned end;	/* number of endpoint e, 0 or 1 */
	bool quiet;	/* picked up in mid-stream: report no events for reaching its state */
	bool changed;	/* its state has changed */
	struct tcp_end before; /* the endpoint before this segment, then before the next change */
};

struct tcp_step tcp_step_begin(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet,
			       uint64_t now, struct flow_events *events);

/* Applies an input to the endpoint's state and adds an event if it changes. */
void tcp_step_input(struct tcp_step *step, enum tcp_input input);

/* Adds a connection event of this segment. */
void tcp_step_tell(struct tcp_step *step, enum flow_event_kind kind);

/*
 * A FIN or RST (`what`: TCP_TROUBLE_FIN or TCP_TROUBLE_RST) to the endpoint was captured; its effect is delayed.  Two
 * processors of a host may take segments from the tap to the socket in either order, and a distant tap sees a segment
 * half a round trip before the receiver does.  What the receiver sends meanwhile it sends in its old state, as its ACK
 * numbers show.  The input therefore waits for the ACK that covers the FIN, or until an answer would have been
 * captured.
 */
void tcp_step_await(struct tcp_step *step, unsigned what);

/* Updates the flow's class and deadline after a state change. */
void tcp_step_end(struct tcp_step *step);

/* Likewise, for changes that no segment caused. */
void tcp_settle(struct flow_table *table, struct flow *flow, uint64_t now);

/* Full processing of a segment that is not for the fast path: as sent, as received. */
void tcp_judge_sent(struct tcp_step *step);
void tcp_judge_received(struct tcp_step *step);

/* The wait is over: the FIN or RST takes effect. */
void tcp_arrived(struct flow_table *table, struct flow *flow, unsigned end, uint64_t ts, struct flow_events *events);

/* Applies an input that no segment of the endpoint caused, and adds an event if the state changes. */
void tcp_change_state(struct flow_table *table, struct flow *flow, unsigned end, enum tcp_input input, uint64_t ts,
		      struct flow_events *events);

#define TCP_TROUBLE_WAITS (TCP_TROUBLE_FIN | TCP_TROUBLE_RST)

/* No round trip is longer: the time stamp decreased, or the timed segment was forgotten. */
#define LONGEST_RTT_US 0x7fffffffu

/* Adds a round trip sample. */
static inline void
rtt_sample(struct tcp_end *e, uint32_t us)
{
	uint32_t off;

	if (us > LONGEST_RTT_US)
		return;
	if (us == 0)
		us = 1; /* 0 means unknown */
	if (e->srtt_us == 0) {
		e->srtt_us = us;
		e->rttvar_us = us / 2;
		return;
	}
	off = us > e->srtt_us ? us - e->srtt_us : e->srtt_us - us;
	e->rttvar_us += off / 4 - e->rttvar_us / 4;
	e->srtt_us += us / 8 - e->srtt_us / 8;
	if (e->srtt_us == 0)
		e->srtt_us = 1;
}

/* Starts timing `seq`. */
static inline void
rtt_time(struct tcp_end *e, uint32_t seq, uint32_t us)
{
	e->flags |= TCP_END_RTT_TIMED;
	e->rtt_seq = seq;
	e->rtt_us = us;
}

/* Starts timing if nothing is being timed and `until` is not in use. */
static inline void
rtt_begin(struct tcp_end *e, uint32_t seq, uint32_t us)
{
	if ((e->flags & TCP_END_RTT_TIMED) == 0 && (e->trouble & TCP_TROUBLE_WAITS) == 0 &&
	    e->state != TCP_STATE_TIME_WAIT)
		rtt_time(e, seq, us);
}

/* An ACK has advanced una. */
static inline void
rtt_acked(struct tcp_end *e, uint32_t us)
{
	if ((e->flags & TCP_END_RTT_TIMED) == 0 || !seq_before(e->rtt_seq, e->una))
		return;
	e->flags &= (uint8_t)~TCP_END_RTT_TIMED;
	rtt_sample(e, us - e->rtt_us);
}

static inline void
rtt_spoil(struct tcp_end *e)
{
	e->flags &= (uint8_t)~TCP_END_RTT_TIMED;
}

/* In a synchronized state other than CLOSED. */
static inline bool
is_synchronized(enum tcp_state state)
{
	return state != TCP_STATE_NONE && state != TCP_STATE_CLOSED && state != TCP_STATE_LISTEN &&
	       state != TCP_STATE_SYN_SENT && state != TCP_STATE_SYN_RECEIVED;
}

/* Whether everything sent is acknowledged, including the FIN. */
static inline bool
tcp_fin_is_acked(const struct tcp_end *e)
{
	return (e->flags & TCP_END_FIN) != 0 && e->una == e->nxt;
}

/* low < seq <= high */
static inline bool
seq_acks(uint32_t low, uint32_t seq, uint32_t high)
{
	return seq_before(low, seq) && !seq_before(high, seq);
}

static inline uint32_t
seq_max(uint32_t a, uint32_t b)
{
	return seq_before(a, b) ? b : a;
}

#endif
