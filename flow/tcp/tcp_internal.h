/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the TCP machine: processing of one segment for one endpoint, losses, holes. */
#ifndef NETOBS_FLOW_TCP_TCP_INTERNAL_H
#define NETOBS_FLOW_TCP_TCP_INTERNAL_H

#include "flow/flow_internal.h"
#include "flow/record/record_internal.h"
#include "flow/tcp/tcp.h"
#include "flow/tcp/tcp_machine.h"
#include "flow/tcp/tcp_pools.h"

/* What a segment is that begins below SND.NXT (tcp_order_classify()). */
enum tcp_repeat_kind {
	TCP_REPEAT_NONE,	   /* it does not begin there, or sends no sequence space */
	TCP_REPEAT_DUPLICATE,	   /* second copy of a segment: captured twice, or duplicated by the network */
	TCP_REPEAT_REORDERED,	   /* first transmission, captured after later ones */
	TCP_REPEAT_RETRANSMISSION,
};

struct tcp_repeat {
	enum tcp_repeat_kind kind;
	uint32_t fresh;	   /* bytes from its first on that were not captured before */
	uint32_t since_us; /* if there are any: time since data above them was captured first, 0 unknown */
	bool holes_known;  /* `fresh` is exact, and tcp_holes_fill() knows what the rest of the segment fills */
	bool probed;	   /* TCP_REPEAT_NONE: its first byte was sent before, but only to probe a closed window */
	struct send_log_result log; /* earlier transmissions of its first byte */
};

/* Longest validity of TS.Recent while a connection is idle (TCP_PAWS_WRAP of Linux: half of what a clock of 1 MHz
 * counts). */
#define TCP_TIMESTAMP_VALID_NS (2147 * NANOSECONDS)

static inline bool
tcp_timestamps_are_valid(const struct flow *flow, uint64_t now)
{
	return now <= flow->last_seen || now - flow->last_seen <= TCP_TIMESTAMP_VALID_NS;
}

/* An endpoint of a flow.  The empty instruction hides that it is an element of an array, because gcc would compute its
 * address again for each field. */
static inline struct tcp_endpoint *
tcp_endpoint_of(struct flow *flow, unsigned endpoint)
{
	struct tcp_endpoint *e = &flow->tcp[endpoint];

	__asm__("" : "+r"(e));
	return e;
}

struct tcp_segment_ctx {
	struct flow_table *table;
	struct flow *flow;
	struct tcp_endpoint *ep;	 /* the endpoint that sends or receives */
	const struct tcp_endpoint *peer; /* the other endpoint, read only */
	const struct packet *packet;
	const struct tcp_layer *header; /* the packet's */
	struct flow_events *events;
	uint64_t now;
	uint32_t us;		    /* `now` in microseconds modulo 2^32 */
	uint32_t payload_len;	    /* bytes of payload on the wire */
	unsigned endpoint;	    /* number of endpoint `ep`, 0 or 1 */
	struct tcp_repeat repeat;   /* of a segment sent */
	bool suppress_events;	    /* the endpoint is mid-stream: report no events for reaching its state */
	bool changed;		    /* the state of `ep`, or a wait of it, has changed */
	struct tcp_endpoint before; /* the endpoint before this segment, then before the next change; not set while
				     * state changes are omitted (flow_table_omit_states()) */
};

void tcp_segment_begin(struct tcp_segment_ctx *ctx, struct flow_table *table, struct flow *flow, unsigned endpoint,
		       const struct packet *packet, uint64_t now, struct flow_events *events);

/* Applies an input to the endpoint's state and adds an event if it changes. */
void tcp_apply_input(struct tcp_segment_ctx *ctx, enum tcp_input input);

/* Adds a connection event of this segment. */
void tcp_report_event(struct tcp_segment_ctx *ctx, enum flow_event_kind kind);

/*
 * A FIN or RST (`reason`: TCP_SLOW_FIN_DEFERRED or TCP_SLOW_RST_DEFERRED) to the endpoint was captured; its effect is
 * deferred.  So is that of a SYN,ACK (TCP_SLOW_SYN_ACK_DEFERRED): a host without a socket for it, or whose socket was
 * closed meanwhile, answers with a RST and was never ESTABLISHED.  Two processors of a host may take segments from
 * the tap to the socket in either order, and a distant tap sees a segment half a round trip before the receiver
 * does.  What the receiver sends meanwhile it sends in its old state, as its ACK numbers show.  The input therefore
 * waits for the ACK that covers the FIN or SYN, or until an answer would have been captured.
 *
 * A closed socket in FIN_WAIT_1 answers data with a RST that has the data's ACK number, and is CLOSED, even if the ACK
 * of its FIN is captured between the data and the RST.  That ACK (TCP_SLOW_FIN_ACK_DEFERRED) waits for the answer, too.
 *
 * A listener whose accept queue is full drops the ACK of its SYN,ACK, and all that follows it, and has no connection.
 * The ACK (TCP_SLOW_ACK_DEFERRED) therefore waits until the endpoint sends data, a FIN, an ACK of more than the SYN, or
 * a RST with an ACK, which only a connection sends.  Without data to acknowledge it takes effect when the endpoint has
 * not repeated its SYN,ACK in time.  A SYN,ACK again, or a RST without ACK, shows that the ACK was dropped.
 */
void tcp_defer_input(struct tcp_segment_ctx *ctx, unsigned reason);

/* Starts the wait of such an input, which has an effect in the endpoint's state. */
void tcp_defer(struct flow_table *table, struct flow *flow, unsigned endpoint, unsigned reason, uint64_t now);

/* Defers the ACK of its SYN,ACK that the passive endpoint receives.  False if the ACK takes effect at once. */
bool tcp_defer_ack(struct tcp_segment_ctx *ctx);

/* When the deferred ACK of a passive endpoint was captured. */
uint64_t tcp_deferred_ack_time(const struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* The endpoint has accepted the deferred ACK: it is established since. */
void tcp_accept_deferred_ack(struct tcp_segment_ctx *ctx);

/* The endpoint has dropped the deferred ACK, and what followed it. */
void tcp_drop_deferred_ack(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Whether the SYN,ACK to the endpoint was sent again: its sender has no ACK, so that the endpoint has probably not
 * accepted it. */
bool tcp_syn_ack_is_unanswered(const struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Whether a deferred ACK takes effect if nothing more is captured: the endpoint has not left data unanswered. */
bool tcp_deferred_ack_counts(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint64_t now);

/* Whether the peer of an endpoint with a deferred ACK has sent something since, or with it, that the endpoint must
 * acknowledge. */
bool tcp_deferred_ack_is_tested(struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Updates the flow's class and deadline after a state change. */
void tcp_segment_end(struct tcp_segment_ctx *ctx);

/* Like tcp_segment_end(), for changes that no segment caused. */
void tcp_flow_reclassify(struct flow_table *table, struct flow *flow, uint64_t now);

/* The endpoint's unproven FIN is proved: its peer acknowledges it, or the endpoint sends from after it. */
void tcp_prove_fin(struct tcp_segment_ctx *ctx);

/* Whether the numbers of the peer of `endpoint` were taken anew when the peer sent the segment in progress. */
bool tcp_resync_is_pending(struct flow_table *table, const struct flow *flow, unsigned endpoint);

/* Then the receiver `e` takes its numbers anew.  True if its own are among them. */
bool tcp_resync_numbers(struct tcp_endpoint *e, const struct tcp_endpoint *peer, const struct tcp_layer *t);

/* Full processing of a segment that is not for the fast path: as sent, as received.  The latter returns the reason why
 * the endpoint ignores the segment, ANOMALY_NONE if it does not. */
void tcp_process_sent(struct tcp_segment_ctx *ctx);
enum anomaly tcp_process_received(struct tcp_segment_ctx *ctx);

/* The wait is over: the deferred FIN or RST, if there is one, takes effect. */
void tcp_apply_deferred(struct flow_table *table, struct flow *flow, unsigned endpoint, uint64_t ts,
			struct flow_events *events);

/* Applies an input that no segment of the endpoint caused, and adds an event if the state changes. */
void tcp_change_state(struct flow_table *table, struct flow *flow, unsigned endpoint, enum tcp_input input, uint64_t ts,
		      struct flow_events *events);

#define TCP_SLOW_DEFERRED (TCP_SLOW_FIN_DEFERRED | TCP_SLOW_RST_DEFERRED | TCP_SLOW_SYN_ACK_DEFERRED)

/* No round trip is longer: the time stamp decreased, or the ACK of the timed segment was not captured. */
#define TCP_RTT_MAX_US 0x7fffffffu

/* The send stamp.  Few segments need it, so it is not computed in advance. */
static inline uint16_t
tcp_segment_stamp(const struct tcp_segment_ctx *ctx)
{
	return packet_send_stamp(ctx->packet);
}

/* Whether the send stamp is from TSval, not from the IPv4 identification. */
static inline bool
tcp_segment_stamp_is_tsval(const struct tcp_segment_ctx *ctx)
{
	return ctx->packet->ip.version != 4 || (uint16_t)ctx->packet->ip.fragment_id == 0;
}

/* Records in the send log that the endpoint has sent [seq, end_seq).  `repeats`: the range begins below SND.NXT. */
static inline void
tcp_log_segment(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq, bool repeats)
{
	send_log_append(flow_table_tcp_pools(ctx->table), ctx->ep,
			&(struct send_log_record){seq, end_seq, ctx->us, tcp_segment_stamp(ctx), repeats});
}

/* Microseconds from `then` to `us`, 0 if the time stamp decreased. */
static inline uint32_t
tcp_us_since(uint32_t then, uint32_t us)
{
	return tcp_seq_before(us, then) ? 0 : us - then;
}

/* Adds a round trip sample.  Returns it, 0 if it was dropped. */
static inline uint32_t
tcp_rtt_add_sample(struct tcp_endpoint *e, uint32_t us)
{
	uint32_t off;

	if (us > TCP_RTT_MAX_US)
		return 0;
	if (us == 0)
		us = 1; /* 0 means unknown */
	if (e->srtt_us == 0) {
		e->srtt_us = us;
		e->rttvar_us = us / 2;
		return us;
	}
	off = us > e->srtt_us ? us - e->srtt_us : e->srtt_us - us;
	e->rttvar_us += off / 4 - e->rttvar_us / 4;
	e->srtt_us += us / 8 - e->srtt_us / 8;
	if (e->srtt_us == 0)
		e->srtt_us = 1;
	return us;
}

/* Starts timing `seq`. */
static inline void
tcp_rtt_start(struct tcp_endpoint *e, uint32_t seq, uint32_t us)
{
	e->flags |= TCP_EP_RTT_PENDING;
	e->rtt_seq = seq;
	e->rtt_us = us;
}

/* Starts timing if nothing is being timed and the union does not hold `wait_until`. */
static inline void
tcp_rtt_start_if_idle(struct tcp_endpoint *e, uint32_t seq, uint32_t us)
{
	if ((e->flags & TCP_EP_RTT_PENDING) == 0 && (e->slow_reasons & TCP_SLOW_DEFERRED) == 0 &&
	    e->state != TCP_STATE_TIME_WAIT)
		tcp_rtt_start(e, seq, us);
}

/* An ACK has advanced una.  Returns the round trip sample that it completes, 0 if there is none. */
static inline uint32_t
tcp_rtt_on_ack(struct tcp_endpoint *e, uint32_t us)
{
	if ((e->flags & TCP_EP_RTT_PENDING) == 0 || !tcp_seq_before(e->rtt_seq, e->una))
		return 0;
	e->flags &= (uint8_t)~TCP_EP_RTT_PENDING;
	return tcp_rtt_add_sample(e, us - e->rtt_us);
}

static inline void
tcp_rtt_cancel(struct tcp_endpoint *e)
{
	e->flags &= (uint8_t)~TCP_EP_RTT_PENDING;
}

/* The offset of `seq` in the stream of its sender, the one nearest to what was sent so far; negative before the first
 * byte. */
static inline int64_t
tcp_stream_position(const struct tcp_endpoint *e, uint32_t seq)
{
	return (int64_t)e->bytes + (int32_t)(seq - (e->iss + 1) - (uint32_t)e->bytes);
}

/* The first byte captured of a mid-stream endpoint is `seq`: offset 0 of its stream. */
static inline void
tcp_set_stream_base(struct tcp_endpoint *e, uint32_t seq)
{
	int64_t offset = tcp_stream_position(e, seq);

	if ((e->flags & TCP_EP_ISS_KNOWN) == 0 &&
	    (e->iss == 0 || offset < 0 || offset >= (int64_t)e->bytes + TCP_WINDOW_MAX))
		e->iss = seq - 1;
}

/* Whether a SYN,ACK to it was captured that it may refuse. */
static inline bool
tcp_syn_ack_is_deferred(const struct tcp_endpoint *e)
{
	return (e->slow_reasons & TCP_SLOW_SYN_ACK_DEFERRED) != 0 && e->state == TCP_STATE_SYN_SENT;
}

/* Whether an ACK of its FIN was captured that it may not have received in FIN_WAIT_1. */
static inline bool
tcp_fin_ack_is_deferred(const struct tcp_endpoint *e)
{
	return (e->slow_reasons & TCP_SLOW_FIN_ACK_DEFERRED) != 0 && e->state == TCP_STATE_FIN_WAIT_1;
}

/* Whether everything sent is acknowledged, including the FIN. */
static inline bool
tcp_endpoint_fin_is_acked(const struct tcp_endpoint *e)
{
	return (e->flags & TCP_EP_FIN_SENT) != 0 && e->una == e->nxt;
}

/* low < seq <= high */
static inline bool
tcp_seq_in_ack_range(uint32_t low, uint32_t seq, uint32_t high)
{
	return tcp_seq_before(low, seq) && !tcp_seq_before(high, seq);
}

static inline uint32_t
tcp_seq_max(uint32_t a, uint32_t b)
{
	return tcp_seq_before(a, b) ? b : a;
}

/* Whether a segment with this ACK number was sent after all payload of its sender's peer had arrived. */
static inline bool
tcp_ack_covers_payload(const struct tcp_endpoint *peer, uint32_t ack)
{
	return !tcp_seq_before(ack, peer->nxt - ((peer->flags & TCP_EP_FIN_SENT) != 0));
}

/*
 * The order in which an endpoint sent its segments: tells a duplicate and a reordered first transmission from a
 * retransmission.
 *
 * The evidence is the send stamp (packet_send_stamp()) of the segments in the send log.  A duplicate has the stamp of
 * the segment that it repeats; a segment that was overtaken has an older stamp than data captured before it; a
 * retransmission has a newer one.  Stamps from the IPv4 identification count only if the sender has counted them up so
 * far.  Without usable stamps, a segment that fills a gap is a retransmission if the sender had a reason to send one.
 */

/* Classifies a segment that sends [seq, end_seq), which begins below SND.NXT. */
struct tcp_repeat tcp_order_classify(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/*
 * Retransmission analysis: what was retransmitted, why, and an estimate of the sender's congestion window.  A flow has
 * a loss pair only while one of its endpoints has a loss to follow (TCP_SLOW_LOSS) or a result worth keeping; the
 * endpoints of a flow without one are in the open state with nothing SACKed.
 */

/* What a range below SND.NXT fills. */
struct tcp_hole_overlap {
	bool known;	/* all holes at the range are known */
	uint32_t first; /* bytes from its first on that were not captured before */
	uint32_t us;	/* if there are any: when data above them was captured first, 0 unknown */
};

/* The segment in `ctx` sends [seq, end_seq), which at least begins in sequence space sent before. */
void tcp_loss_on_retransmission(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/* Longest time in which the passive endpoint that sends its SYN,ACK again has answered the peer's first SYN, us; 0
 * unknown.  If the SYN was repeated before, its answer may be that of any. */
uint32_t tcp_syn_answer_us(const struct tcp_segment_ctx *ctx);

/* Whether the SYN,ACK sent again answers a SYN sent again: no timer has expired. */
bool tcp_syn_ack_is_answer(const struct tcp_segment_ctx *ctx);

/* The loss state of the endpoint in `ctx`; NULL without a loss to follow. */
static inline struct tcp_loss *
tcp_loss_find(const struct tcp_segment_ctx *ctx)
{
	struct tcp_loss_pair *pair = loss_pool_find(flow_table_tcp_pools(ctx->table), flow_cold(ctx->table, ctx->flow));

	return pair == NULL ? NULL : &pair->end[ctx->endpoint];
}

/* The endpoint sends a new byte at una to probe a closed window.  A receiver that drops the byte shows no loss. */
void tcp_loss_set_window_probe(struct tcp_segment_ctx *ctx);

/* Whether the segment in `ctx`, which begins at una, sends the byte of such a probe again. */
bool tcp_loss_window_is_probed(const struct tcp_segment_ctx *ctx);

/* The endpoint sends the byte with other data: it is outstanding like any other. */
void tcp_loss_clear_window_probe(struct tcp_segment_ctx *ctx);

/* Whether SACK blocks or duplicate ACKs indicate a loss at or after `seq`. */
bool tcp_loss_is_lost(const struct tcp_endpoint *e, const struct tcp_loss *loss, uint32_t seq);

/* Whether all of [seq, end_seq) was SACKed. */
bool tcp_loss_is_sacked(const struct tcp_loss *loss, uint32_t seq, uint32_t end_seq);

/* The endpoint has received an ACK; `una` is SND.UNA before it. */
void tcp_loss_on_ack(struct tcp_segment_ctx *ctx, uint32_t una);

/* The endpoint continues at `seq`, after a window or more that was not captured: nothing below is outstanding. */
void tcp_loss_resync(struct tcp_segment_ctx *ctx, uint32_t seq);

/* The endpoint continues after [begin, end_seq), which was not captured; `begin` is SND.NXT. */
void tcp_holes_add(struct tcp_segment_ctx *ctx, uint32_t begin, uint32_t end_seq);

/* What the range [seq, end_seq), which begins below SND.NXT, fills. */
struct tcp_hole_overlap tcp_holes_find(const struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/* The range is captured now.  Returns its bytes in holes. */
uint32_t tcp_holes_fill(struct tcp_segment_ctx *ctx, uint32_t seq, uint32_t end_seq);

/* The send log shows that so many bytes are new, of a hole that is not in the list. */
void tcp_holes_fill_forgotten(struct tcp_segment_ctx *ctx, uint32_t bytes);

/* The endpoint begins a new stream: it has no holes. */
void tcp_holes_clear(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Stores the timestamps of a FIN that is deferred until the endpoint acknowledges it. */
void tcp_loss_set_deferred_fin(struct flow_table *table, struct flow *flow, unsigned endpoint, uint32_t tsval,
			       uint32_t tsecr);

/* The FIN is no longer deferred. */
void tcp_loss_clear_deferred_fin(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Whether the endpoint may have received the deferred FIN and the ACK in `ctx` as one segment: Linux coalesces segments
 * for a busy socket if their options agree (tcp_add_to_backlog). */
bool tcp_loss_coalesces_with_fin(const struct tcp_segment_ctx *ctx);

/* The endpoint, in FIN_WAIT_1 or with an unproven FIN, has received new data: a closed socket answers it with a RST. */
void tcp_loss_set_unanswered_data(struct tcp_segment_ctx *ctx);

/* The endpoint is no longer in FIN_WAIT_1. */
void tcp_loss_clear_unanswered_data(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Whether the endpoint has sent nothing since such data. */
bool tcp_loss_data_is_unanswered(const struct tcp_segment_ctx *ctx);

/* Whether the RST in `ctx`, which the endpoint sends, has the number with which a closed socket answers such data: the
 * data's ACK number. */
bool tcp_loss_rst_answers_data(const struct tcp_segment_ctx *ctx);

/* The endpoint has sent an ACK: records its SACK blocks. */
void tcp_loss_on_sack_sent(struct tcp_segment_ctx *ctx);

/* Right end of the SACK blocks in the endpoint's last ACK; false if there were none. */
bool tcp_loss_sack_edge(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t *edge);

#endif
