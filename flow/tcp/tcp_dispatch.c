/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry of the TCP machine: takes the fast path or calls the full checks. */
#include <string.h>

#include "flow/tcp/tcp_check.h"
#include "flow/tcp/tcp_fastpath.h"
#include "flow/tcp/tcp_internal.h"

/*
 * ICMP errors about a connection.  Linux ends an attempt to connect with most of them (tcp_v4_err(), tcp_v6_err()):
 * connect() fails at once, also in a simultaneous open.  A connection that is established survives them, as
 * RFC 1122 4.2.3.9 and RFC 5927 demand.
 */

enum {
	ICMP_UNREACHABLE = 3,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETER_PROBLEM = 12,
	ICMPV6_PACKET_TOO_BIG = 2,
	CODE_FRAGMENTATION_NEEDED = 4,
	CODE_PRECEDENCE_CUTOFF = 15, /* Linux ignores codes above it */
	CODE_REASSEMBLY = 1,
};

/* Whether Linux ends an attempt for errors of this type and code.  In ICMPv6 every type below 128 is an error, known or
 * not (RFC 4443 section 2.4). */
static bool
tcp_icmp_is_fatal(unsigned version, const struct icmp_layer *icmp)
{
	if (version == 6)
		return icmp->type != ICMPV6_PACKET_TOO_BIG;
	switch (icmp->type) {
	case ICMP_UNREACHABLE:
		return icmp->code <= CODE_PRECEDENCE_CUTOFF && icmp->code != CODE_FRAGMENTATION_NEEDED;
	case ICMP_TIME_EXCEEDED:
		return icmp->code != CODE_REASSEMBLY;
	default:
		return icmp->type == ICMP_PARAMETER_PROBLEM;
	}
}

/* Whether the error goes to the host that has sent the quoted segment. */
static bool
tcp_icmp_is_addressed(const struct packet *packet)
{
	const struct icmp_layer *icmp = &packet->icmp;

	return icmp->error && icmp->quote.version == packet->ip.version &&
	       memcmp(packet->ip.dst, icmp->quote.src, icmp->quote.version == 4 ? 4 : 16) == 0;
}

/* Whether the endpoint attempts to connect.  A SYN of the peer, in a simultaneous open, does not end the attempt; a
 * passive open is not the socket that such an error concerns. */
static bool
tcp_icmp_finds_attempt(const struct tcp_endpoint *e)
{
	return (e->state == TCP_STATE_SYN_SENT && !tcp_syn_ack_is_deferred(e)) ||
	       (e->state == TCP_STATE_SYN_RECEIVED && (e->flags & TCP_EP_ACTIVE_OPEN) != 0);
}

/* Whether the quoted number is one of the attempt, SND.UNA to SND.NXT. */
static bool
tcp_icmp_quotes_attempt(const struct tcp_endpoint *e, const struct icmp_layer *icmp)
{
	return tcp_icmp_finds_attempt(e) && icmp->quote.has_seq &&
	       icmp->quote.seq - e->una <= e->nxt - e->una;
}

void
tcp_icmp_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		  uint64_t now, struct flow_events *events)
{
	if (flow->kind != FLOW_TCP || !tcp_icmp_is_addressed(packet) ||
	    !tcp_icmp_is_fatal(packet->ip.version, &packet->icmp) ||
	    !tcp_icmp_quotes_attempt(&flow->tcp[endpoint], &packet->icmp))
		return;
	record_prepare(table, flow);
	if (now > flow->last_seen)
		flow->last_seen = now;
	record_set_unreached(table, flow, endpoint, packet);
	flow_events_add(events, EVENT_TCP_CONNECT_REFUSED, endpoint, now);
	tcp_change_state(table, flow, endpoint, TCP_INPUT_RECV_UNREACHABLE, now, events);
	tcp_flow_reclassify(table, flow, now);
}

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define TCP_SLOW_PATH_FLAGS (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)

static inline bool
tcp_segment_is_fast(const struct tcp_layer *t)
{
	return (t->flags & TCP_SLOW_PATH_FLAGS) == TCP_ACK && (t->options & TCP_OPTION_SACK) == 0;
}

static inline struct tcp_fast_segment
tcp_fast_segment_from_packet(const struct packet *packet)
{
	const struct tcp_layer *t = &packet->tcp;

	return (struct tcp_fast_segment){
	    .seq = t->seq, .ack = t->ack, .len = packet->payload_wire,
	    .tsval = (t->options & TCP_OPTION_TIMESTAMPS) != 0 ? t->tsval : 0, .window = t->window};
}

static void
tcp_classify_repeat(struct tcp_segment_ctx *ctx)
{
	const struct tcp_layer *t = ctx->header;
	uint32_t length;

	if (!tcp_seq_before(t->seq, ctx->ep->nxt) || (ctx->ep->flags & TCP_EP_SEQ_KNOWN) == 0 ||
	    (t->flags & TCP_RST) != 0)
		return;
	length = ctx->payload_len + ((t->flags & TCP_SYN) != 0) + ((t->flags & TCP_FIN) != 0);
	if (length == 0)
		return;
	ctx->repeat = tcp_order_classify(ctx, t->seq, t->seq + length);
	if (ctx->repeat.kind != TCP_REPEAT_DUPLICATE && tcp_loss_window_is_probed(ctx))
		ctx->repeat = (struct tcp_repeat){.kind = TCP_REPEAT_NONE, .probed = true};
}

/* Whether the peer of `endpoint` has acknowledged all before `end`, or claims so: what ends there is captured late. */
static bool
tcp_payload_is_late(struct flow_table *table, const struct flow *flow, unsigned endpoint, uint32_t end)
{
	const struct tcp_endpoint *peer = &flow->tcp[1 - endpoint];
	uint32_t ack;

	if (peer->segments_sent == 0)
		return false;
	return !tcp_seq_before(peer->last_ack_sent, end) ||
	       (tcp_ack_is_early(table, flow, 1 - endpoint, &ack) && !tcp_seq_before(ack, end));
}

/* Whether bytes of the endpoint before `next` are missing that its peer has not received, either. */
static bool
tcp_has_hole(const struct flow *flow, unsigned endpoint, uint32_t next)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];

	return e->segments_sent > 1 && peer->segments_sent != 0 && tcp_seq_before(peer->rcv_nxt, next);
}

/* Counts a segment of `endpoint` in the record, which has begun.  `bytes`: payload bytes sent before. */
static __attribute__((noinline)) void
tcp_record_sent(struct flow_table *table, const struct flow *flow, unsigned endpoint, const struct packet *packet,
		uint64_t bytes, bool hole, uint64_t now)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];
	const struct tcp_layer *t = &packet->tcp;
	uint32_t end = t->seq + ((t->flags & TCP_SYN) != 0) + packet->payload_wire;
	bool window_known = (t->flags & (TCP_SYN | TCP_RST | TCP_ACK)) == TCP_ACK &&
			    (e->flags & TCP_EP_SEQ_KNOWN) != 0;

	record_count_packet(
	    table, flow, packet,
	    &(struct record_packet){
		.now = now,
		.sender = endpoint,
		.flags = t->flags,
		.window_closed = window_known ? e->wnd == 0 : record_window_is_closed(table, flow, endpoint),
		.from = e,
		.to = peer,
		.fresh = packet->payload_wire != 0 ? (uint32_t)(e->bytes - bytes) : 0,
		.hole = hole,
		.needless = t->sack_count != 0 && !tcp_seq_before(t->ack, t->sack[0][1]),
		.answers = tcp_ack_covers_payload(peer, t->ack),
		.unordered = (packet->payload_wire != 0 && tcp_payload_is_late(table, flow, endpoint, end)) ||
			     ((t->flags & TCP_ACK) != 0 && (peer->flags & TCP_EP_SEQ_KNOWN) != 0 &&
			      tcp_seq_before(peer->nxt, t->ack)),
	    });
}

/* Not inlined, so that the fast path needs no stack frame. */
static __attribute__((noinline)) void
tcp_slow_path_sent(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		   uint64_t now, struct flow_events *events)
{
	struct tcp_segment_ctx ctx;
	uint64_t bytes = flow->tcp[endpoint].bytes;
	bool hole = tcp_has_hole(flow, endpoint, flow->tcp[endpoint].nxt);

	tcp_segment_begin(&ctx, table, flow, endpoint, packet, now, events);
	record_prepare(table, flow);
	ctx.ep->flags &= (uint8_t)~TCP_EP_LAST_RETRANSMITTED;
	ctx.ep->slow_reasons &= (uint8_t)~TCP_SLOW_DUPLICATE;
	tcp_classify_repeat(&ctx);
	if (ctx.repeat.kind == TCP_REPEAT_DUPLICATE) {
		ctx.ep->slow_reasons |= TCP_SLOW_DUPLICATE;
		ctx.ep->segments_sent--;
		tcp_count_duplicate(table);
		return;
	}
	tcp_process_sent(&ctx);
	if (unlikely(flow_table_keeps_records(table)))
		tcp_record_sent(table, flow, endpoint, packet, bytes, hole, now);
	tcp_segment_end(&ctx);
}

static __attribute__((noinline)) enum anomaly
tcp_slow_path_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		       uint64_t now, struct flow_events *events)
{
	struct tcp_segment_ctx ctx;
	enum anomaly anomaly;

	tcp_segment_begin(&ctx, table, flow, endpoint, packet, now, events);
	if ((ctx.peer->slow_reasons & TCP_SLOW_DUPLICATE) != 0)
		return ANOMALY_NONE;
	anomaly = tcp_process_received(&ctx);
	record_count_anomaly(table, flow, anomaly);
	tcp_segment_end(&ctx);
	return anomaly;
}

void
tcp_segment_sent(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		 uint64_t now, struct flow_events *events)
{
	struct tcp_endpoint *e = tcp_endpoint_of(flow, endpoint);
	struct tcp_fast_segment s = tcp_fast_segment_from_packet(packet);

	if (likely(tcp_segment_is_fast(&packet->tcp) && tcp_endpoint_is_fast(e) && tcp_fast_may_send(e, &s) &&
		   tcp_fast_timestamp_is_new(&flow->tcp[1 - endpoint], &s))) {
		record_prepare(table, flow);
		tcp_fast_apply_sent(e, &s);
		if (s.len != 0)
			tcp_fast_apply_payload(flow_table_tcp_pools(table), e, &s, packet_send_stamp(packet),
					       (uint32_t)(now / 1000));
		if (unlikely(flow_table_keeps_records(table)))
			tcp_record_sent(table, flow, endpoint, packet, e->bytes - s.len,
					tcp_has_hole(flow, endpoint, s.seq), now);
	} else {
		record_expect_more(table, flow);
		tcp_count_segment(e);
		tcp_slow_path_sent(table, flow, endpoint, packet, now, events);
	}
}

enum anomaly
tcp_segment_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		     uint64_t now, struct flow_events *events)
{
	struct tcp_endpoint *e = tcp_endpoint_of(flow, endpoint);
	struct tcp_fast_segment s = tcp_fast_segment_from_packet(packet);

	if (likely(tcp_segment_is_fast(&packet->tcp) && tcp_endpoint_is_fast(e) && tcp_fast_may_receive(e, &s) &&
		   tcp_fast_timestamp_is_new(e, &s)))
		record_count_round_trip(table, flow, 1 - endpoint,
					tcp_fast_apply_received(e, &s, (uint32_t)(now / 1000)));
	else
		return tcp_slow_path_received(table, flow, endpoint, packet, now, events);
	return ANOMALY_NONE;
}

void
tcp_count_duplicate(struct flow_table *table)
{
	flow_table_counters_rw(table)->duplicate_segments++;
}

bool
tcp_segment_is_next(const struct flow *flow, unsigned sender, const struct packet *packet)
{
	const struct tcp_endpoint *from = &flow->tcp[sender], *to = &flow->tcp[1 - sender];
	struct tcp_fast_segment s = tcp_fast_segment_from_packet(packet);

	return tcp_segment_is_fast(&packet->tcp) && tcp_endpoint_is_fast(from) && tcp_endpoint_is_fast(to) &&
	       tcp_fast_may_send(from, &s) && tcp_fast_may_receive(to, &s) && tcp_fast_timestamp_is_new(to, &s) &&
	       (s.len != 0 || s.ack != to->una);
}

enum anomaly
tcp_segment_check(struct flow_table *table, struct flow *flow, unsigned receiver, const struct packet *packet)
{
	const struct tcp_endpoint *e = &flow->tcp[receiver];
	struct tcp_fast_segment s = tcp_fast_segment_from_packet(packet);
	struct tcp_endpoint resynced;
	struct tcp_arrival arrival;
	bool resync;

	if (likely(tcp_segment_is_fast(&packet->tcp) && tcp_endpoint_is_fast(e) && tcp_fast_may_receive(e, &s) &&
		   tcp_fast_timestamp_is_new(e, &s)))
		return ANOMALY_NONE;
	if ((flow->tcp[1 - receiver].slow_reasons & TCP_SLOW_DUPLICATE) != 0)
		return ANOMALY_NONE;
	if (tcp_resync_is_pending(table, flow, receiver)) {
		resynced = *e;
		tcp_resync_numbers(&resynced, &flow->tcp[1 - receiver], &packet->tcp);
		e = &resynced;
	}
	arrival = (struct tcp_arrival){
	    .table = table,
	    .flow = flow,
	    .ep = e,
	    .sender = &flow->tcp[1 - receiver],
	    .header = &packet->tcp,
	    .payload_len = packet->payload_wire,
	    .endpoint = receiver,
	};
	return tcp_check_arrival(&arrival, &resync);
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

const char *
tcp_retransmit_kind_name(enum tcp_retransmit_kind kind)
{
	static const char *const names[] = {
		[RETRANSMIT_NONE] = "",
		[RETRANSMIT_FAST] = "fast",
		[RETRANSMIT_TIMEOUT] = "timeout",
		[RETRANSMIT_TAIL_LOSS_PROBE] = "tail-loss-probe",
		[RETRANSMIT_SPURIOUS] = "spurious",
		[RETRANSMIT_SYN] = "syn",
	};

	return names[kind];
}
