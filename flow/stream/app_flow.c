/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/app_flow.h"

#include "flow/stream/app_flow_pool.h"
#include "flow/tcp/tcp.h"

/* Context of the stream callbacks: the reader, its context, and the endpoint that sends. */
struct app_flow_source {
	struct app_context *ctx;
	const struct app_reader *reader;
	const struct app_flow *app_flow;
	uint64_t now; /* of the segment in progress */
	unsigned sender;
};

static void
app_flow_on_bytes(void *context, struct slice bytes)
{
	const struct app_flow_source *source = context;

	source->reader->on_bytes(source->ctx, source->sender, bytes);
}

static void
app_flow_on_gap(void *context, uint32_t length)
{
	const struct app_flow_source *source = context;

	source->reader->on_gap(source->ctx, source->sender, length);
}

static void
app_flow_on_segment(void *context, const struct stream_origin *origin, bool now)
{
	const struct app_flow_source *source = context;
	const struct stream *other = &source->app_flow->stream[1 - source->sender];
	const struct tcp_endpoint *e = &source->ctx->flow->tcp[1 - source->sender];
	bool known = other->begun || (e->flags & TCP_EP_ISS_KNOWN) != 0;
	uint32_t next_seq = other->begun ? other->next_seq : e->iss + 1;
	struct app_context *ctx = source->ctx;

	ctx->now = now ? source->now : origin->time;
	ctx->late = origin->late;
	ctx->peer_bytes_missing = origin->has_ack && (!known || tcp_seq_before(next_seq, origin->ack));
	ctx->unacked = origin->has_ack && known && tcp_seq_before(origin->ack, next_seq) ? next_seq - origin->ack : 0;
}

static void
app_flow_on_anomaly(void *context, enum anomaly a)
{
	const struct app_flow_source *source = context;

	source->ctx->on_anomaly(source->ctx->context, a);
}

void
app_flow_report(struct app_context *ctx, unsigned sender, const void *message)
{
	if (ctx->app_flow != NULL) {
		ctx->app_flow->senders |= (uint8_t)(1u << sender);
		if (ctx->app_flow->senders == 3)
			app_flow_confirm(ctx->table, ctx->app_flow);
	}
	ctx->on_message(ctx->context, sender, message);
}

/* Whether data of the end that opened the connection are acknowledged, and both SYNs were captured. */
static bool
app_flow_is_fast_open(const struct flow *flow, unsigned client)
{
	const struct tcp_endpoint *e = &flow->tcp[client];
	uint32_t acked = flow->tcp[1 - client].last_ack_sent;

	return (e->flags & TCP_EP_ACTIVE_OPEN) != 0 && flow->tcp[1 - client].segments_sent > 0 &&
	       !tcp_seq_before(e->nxt, acked) && tcp_stream_offset(flow, client, acked) > 0;
}

/* Whether what was captured of a mid-stream endpoint begins exactly at the number that its peer has acknowledged. */
static bool
app_flow_begins_at_ack(const struct tcp_endpoint *e, uint32_t acked)
{
	uint32_t end = e->nxt - ((e->flags & TCP_EP_FIN_SENT) != 0);

	return acked == e->iss + 1 && end - (uint32_t)e->bytes == acked;
}

/* Whether a segment begins or ends exactly at the number that its receiver has acknowledged. */
static bool
app_flow_meets_ack(const struct packet *packet, uint32_t acked)
{
	return (packet->tcp.flags & (TCP_SYN | TCP_RST)) == 0 &&
	       (packet->tcp.seq == acked || packet->tcp.seq + packet->payload_wire == acked);
}

bool
app_flow_is_opened(const struct flow *flow, const struct packet *packet, unsigned sender)
{
	bool handshake = (flow->tcp[0].flags & flow->tcp[1].flags & TCP_EP_ISS_KNOWN) != 0;

	if (handshake && (app_flow_is_fast_open(flow, 0) || app_flow_is_fast_open(flow, 1)))
		return true;
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint];
		uint32_t acked = flow->tcp[1 - endpoint].last_ack_sent;

		if (e->segments_sent == 0 || (e->flags & TCP_EP_SEQ_KNOWN) == 0 || tcp_seq_before(e->nxt, acked))
			return false;
		/* With the handshake an ACK of the SYN is enough.  Offsets do not wrap after 2 GiB. */
		if (tcp_stream_offset(flow, endpoint, acked + handshake) == 0 &&
		    (handshake || !(app_flow_begins_at_ack(e, acked) ||
				    (endpoint == sender && app_flow_meets_ack(packet, acked)))))
			return false;
	}
	return true;
}

bool
app_flow_has_beginning(const struct flow *flow)
{
	return ((flow->tcp[0].flags | flow->tcp[1].flags) & TCP_EP_ISS_KNOWN) != 0;
}

bool
app_flow_is_whole(const struct flow *flow, const struct packet *packet, unsigned sender)
{
	if ((packet->tcp.flags & TCP_ACK) != 0 && tcp_seq_before(flow->tcp[1 - sender].nxt, packet->tcp.ack))
		return false;
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];

		if ((e->flags & TCP_EP_ISS_KNOWN) == 0 || e->segments_sent == 0 ||
		    ((peer->flags & TCP_EP_SEQ_KNOWN) != 0 && tcp_seq_before(e->nxt, peer->last_ack_sent)))
			return false;
	}
	return true;
}

/* Whether the stream of this payload's sender is read from its start: its SYN was captured, or that of its peer and so
 * the first number that it acknowledges, and the payload is the first that was captured from the endpoint, the first of
 * its stream, or passed with all others. */
static bool
app_flow_is_from_start(const struct app_context *ctx, const struct tcp_endpoint *e, const struct packet *packet)
{
	uint32_t seq = packet->tcp.seq + ((packet->tcp.flags & TCP_SYN) != 0);

	if ((e->flags & TCP_EP_ISS_KNOWN) == 0)
		return app_flow_has_beginning(ctx->flow) && seq == e->iss + 1;
	return ctx->from_first || e->bytes <= packet->payload_wire || seq == e->iss + 1;
}

bool
app_flow_is_late(const struct flow *flow, const struct packet *packet, unsigned sender)
{
	const struct tcp_endpoint *peer = &flow->tcp[1 - sender];
	uint32_t end = packet->tcp.seq + ((packet->tcp.flags & TCP_SYN) != 0) + packet->payload_wire;

	return packet->payload_wire > 0 && peer->segments_sent > 0 && !tcp_seq_before(peer->last_ack_sent, end);
}

static void
app_flow_start_stream(struct app_flow_table *table, struct app_flow *c, const struct tcp_endpoint *e, uint32_t seq,
		      const struct packet *packet, struct app_flow_source *source)
{
	bool beginning = app_flow_is_from_start(source->ctx, e, packet);

	table->counters.midstream += !beginning;
	/* In mid-stream its first bytes may be behind others in the capture. */
	if (beginning)
		seq = e->iss + 1;
	else if (source->ctx->kept && (source->ctx->first_known >> source->sender & 1) != 0)
		seq = source->ctx->first[source->sender];
	stream_begin(table->pool, &c->stream[source->sender], seq);
	source->reader->on_start(source->ctx, source->sender, beginning);
}

/* Whether this segment is a RST that has closed its sender. */
static bool
app_flow_is_reset(const struct flow *flow, unsigned sender, uint8_t flags)
{
	return (flags & TCP_RST) != 0 && flow->tcp[sender].state == TCP_STATE_CLOSED;
}

/* Whether the endpoint has sent a FIN, and the reader needs nothing of its stream that is still missing. */
static bool
app_flow_stream_is_read(const struct flow *flow, const struct app_flow *c, unsigned endpoint,
			const struct app_reader *reader, const void *state)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint];

	return (e->flags & TCP_EP_FIN_SENT) != 0 &&
	       (!c->stream[endpoint].begun || c->stream[endpoint].next_seq == e->nxt - 1 ||
		!reader->is_reading(state, endpoint));
}

/* Whether both streams are read to their FIN, or this segment is a RST that has closed its sender. */
static bool
app_flow_is_closed(const struct app_context *ctx, const struct app_flow *c, const struct app_reader *reader,
		   unsigned sender, uint8_t flags)
{
	if ((flags & TCP_RST) != 0)
		return app_flow_is_reset(ctx->flow, sender, flags);
	return app_flow_stream_is_read(ctx->flow, c, 0, reader, ctx->state) &&
	       app_flow_stream_is_read(ctx->flow, c, 1, reader, ctx->state);
}

static struct stream_reader
app_flow_stream_reader(struct app_flow_source *source)
{
	return (struct stream_reader){.on_bytes = app_flow_on_bytes,
				      .on_gap = app_flow_on_gap,
				      .on_anomaly = app_flow_on_anomaly,
				      .on_segment = app_flow_on_segment,
				      .context = source};
}

static struct app_flow_source
app_flow_other(const struct app_flow_source *source)
{
	struct app_flow_source other = *source;

	other.sender = 1 - source->sender;
	return other;
}

/* The sender of a segment was captured up to `end`: delivers what was held of the other end until then. */
static void
app_flow_release(struct app_flow_table *table, struct app_flow *c, uint32_t end, const struct app_flow_source *source)
{
	struct app_flow_source other = app_flow_other(source);
	struct stream_reader stream_reader = app_flow_stream_reader(&other);

	stream_release(table->pool, &c->stream[other.sender], end, &stream_reader);
}

/* The ACK of a segment gives up bytes that are missing from the other stream: before queued segments, and before a FIN
 * that it acknowledges. */
static void
app_flow_read_ack(struct app_flow_table *table, struct app_flow *c, const struct packet *packet,
		  const struct app_flow_source *source)
{
	struct app_flow_source other = app_flow_other(source);
	const struct tcp_endpoint *e = &source->ctx->flow->tcp[other.sender];
	struct stream_reader stream_reader = app_flow_stream_reader(&other);
	struct stream *s = &c->stream[other.sender];
	bool fin_acked = (e->flags & TCP_EP_FIN_SENT) != 0 && !tcp_seq_before(packet->tcp.ack, e->nxt);

	if (!s->begun || (packet->tcp.flags & TCP_ACK) == 0 || (s->queue_head == 0 && !fin_acked) ||
	    !source->reader->is_reading(source->ctx->state, other.sender))
		return;
	stream_acknowledge(table->pool, s, packet->tcp.ack, &stream_reader);
	if (fin_acked)
		stream_end_hold(table->pool, s, &stream_reader);
	if (fin_acked && tcp_seq_before(s->next_seq, e->nxt - 1) && e->nxt - 1 - s->next_seq <= TCP_WINDOW_MAX)
		stream_skip(table->pool, s, e->nxt - 1 - s->next_seq, &stream_reader);
}

/* The end of an endpoint's stream when this RST resets the connection: its FIN, or else the last of the RST, the bytes
 * captured and the bytes that its peer has acknowledged. */
static uint32_t
app_flow_reset_seq(const struct flow *flow, const struct packet *packet, unsigned sender, unsigned endpoint)
{
	const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];
	uint32_t end = e->nxt;

	if ((e->flags & TCP_EP_FIN_SENT) != 0)
		return end - 1;
	if (endpoint == sender && tcp_seq_before(end, packet->tcp.seq))
		end = packet->tcp.seq;
	if (endpoint != sender && (packet->tcp.flags & TCP_ACK) != 0 && tcp_seq_before(end, packet->tcp.ack))
		end = packet->tcp.ack;
	if ((peer->flags & TCP_EP_SEQ_KNOWN) != 0 && tcp_seq_before(end, peer->last_ack_sent))
		end = peer->last_ack_sent;
	return end;
}

/* A RST gives up the bytes that are missing from both streams: they were sent, but not captured. */
static void
app_flow_read_reset(struct app_flow_table *table, struct app_flow *c, const struct packet *packet,
		    const struct app_flow_source *source)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		struct app_flow_source of = endpoint == source->sender ? *source : app_flow_other(source);
		uint32_t end = app_flow_reset_seq(source->ctx->flow, packet, source->sender, endpoint);
		struct stream_reader stream_reader = app_flow_stream_reader(&of);
		struct stream *s = &c->stream[endpoint];

		if (!s->begun || !source->reader->is_reading(source->ctx->state, endpoint))
			continue;
		stream_end_hold(table->pool, s, &stream_reader);
		stream_acknowledge(table->pool, s, end, &stream_reader);
		if (tcp_seq_before(s->next_seq, end) && end - s->next_seq <= TCP_WINDOW_MAX)
			stream_skip(table->pool, s, end - s->next_seq, &stream_reader);
	}
}

static void
app_flow_read_segment(struct app_flow_table *table, struct app_flow *c, const struct flow *flow,
		      const struct packet *packet, struct app_flow_source *source)
{
	const struct tcp_layer *t = &packet->tcp;
	struct stream *s = &c->stream[source->sender];
	struct stream_reader stream_reader = app_flow_stream_reader(source);
	uint32_t seq = t->seq + ((t->flags & TCP_SYN) != 0), end = seq + packet->payload_wire;
	uint32_t proved = flow->tcp[1 - source->sender].last_ack_sent;
	struct stream_segment segment = {
	    .seq = seq,
	    .bytes = cursor_captured_slice(&packet->payload),
	    .wire = packet->payload_wire,
	    /* What was acknowledged since then gives up nothing of the first segments: more of them are kept.  Nor does
	     * an ACK of what was not captured, which may be wrong or captured early. */
	    .has_acked = !source->ctx->kept && s->acked_known,
	    .acked = tcp_seq_before(s->acked, proved) ? s->acked : proved,
	    .origin = {.time = source->now,
		       .ack = t->ack,
		       .has_ack = (t->flags & TCP_ACK) != 0,
		       .late = source->ctx->kept ? source->ctx->late :
						   s->acked_known && !tcp_seq_before(s->acked, end)},
	};

	if (segment.bytes.len > segment.wire)
		segment.bytes.len = segment.wire;
	if (!s->begun)
		app_flow_start_stream(table, c, &flow->tcp[source->sender], segment.seq, packet, source);
	if (source->reader->is_reading(source->ctx->state, source->sender))
		stream_feed(table->pool, s, &segment, &stream_reader);
	else if (s->queue_head != 0) /* the reader needs no more bytes: drop the queued segments */
		stream_begin(table->pool, s, s->next_seq);
}

/* Whether an endpoint of which no data were captured has sent none: neither its FIN nor an ACK of its peer is behind
 * data. */
static bool
app_flow_is_empty(const struct tcp_endpoint *peer, const struct tcp_endpoint *e)
{
	bool fin = (e->flags & TCP_EP_FIN_SENT) != 0;

	return (e->flags & TCP_EP_ISS_KNOWN) != 0 && e->nxt - fin == e->iss + 1 &&
	       !tcp_seq_before(e->nxt, peer->last_ack_sent);
}

/* Reports the ends of the streams that are read to the end, or that a RST has ended: of an endpoint that has sent no
 * data, too. */
static void
app_flow_report_ends(struct app_flow *c, const struct flow *flow, bool reset, struct app_flow_source *source)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint];
		bool finished = app_flow_stream_is_read(flow, c, endpoint, source->reader, source->ctx->state);

		if ((c->ended >> endpoint & 1) != 0 || (!reset && !finished) ||
		    (!c->stream[endpoint].begun && !app_flow_is_empty(&flow->tcp[1 - endpoint], e)))
			continue;
		c->ended |= (uint8_t)(1u << endpoint);
		if (source->reader->on_end != NULL)
			source->reader->on_end(source->ctx, endpoint);
	}
}

static bool
app_flow_reader_needs_bytes(const struct app_reader *reader, const struct app_context *ctx)
{
	return ctx->traced || (reader->needs_bytes != NULL && reader->needs_bytes(ctx->state));
}

/* Whether a connection without an app flow gets one.  In mid-stream the reader knows nothing that a tracer which
 * attaches later could need. */
static bool
app_flow_is_needed(const struct app_context *ctx, const struct packet *packet, unsigned sender)
{
	bool from_start = app_flow_is_from_start(ctx, &ctx->flow->tcp[sender], packet);

	return packet->payload_wire > 0 && (packet->tcp.flags & TCP_RST) == 0 && (from_start || ctx->traced) &&
	       (ctx->kept || app_flow_is_opened(ctx->flow, packet, sender));
}

/* Whether the reader has finished with both directions. */
static bool
app_flow_is_read(const struct app_flow *c, const struct app_reader *reader, const void *state)
{
	return c->stream[0].begun && c->stream[1].begun && !reader->is_reading(state, 0) &&
	       !reader->is_reading(state, 1);
}

/* A new app flow: what was captured of each end before this segment of `sender`, and what each has acknowledged. */
static void
app_flow_set_ends(struct app_flow *c, const struct app_context *ctx, const struct packet *packet, unsigned sender)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &ctx->flow->tcp[endpoint];
		struct stream *s = &c->stream[1 - endpoint];

		s->acked_known = (e->flags & TCP_EP_SEQ_KNOWN) != 0 && e->state != TCP_STATE_SYN_SENT;
		s->acked = e->last_ack_sent;
		s->peer_known = (e->flags & TCP_EP_SEQ_KNOWN) != 0;
		s->peer_end = endpoint == sender ? packet->tcp.seq : e->nxt;
		if (ctx->kept && (ctx->first_known >> endpoint & 1) != 0)
			s->peer_end = ctx->first[endpoint];
	}
}

/* Notes until when bytes are held. */
static void
app_flow_update_hold(struct app_flow_table *table, struct app_flow *c)
{
	uint64_t until = 0, since;

	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		if (stream_is_holding(table->pool, &c->stream[endpoint], &since) &&
		    (until == 0 || since + STREAM_HOLD_NS < until))
			until = since + STREAM_HOLD_NS;
	app_flow_set_held(table, c, until);
}

void
app_flow_end_hold(struct app_flow_table *table, struct app_flow *c, struct app_context *ctx)
{
	if (ctx == NULL) {
		app_flow_retire(table, c);
		return;
	}
	ctx->table = table;
	ctx->app_flow = c;
	ctx->state = app_flow_state(table, c);
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		struct app_flow_source source = {
		    .ctx = ctx, .reader = table->reader, .app_flow = c, .now = ctx->now, .sender = endpoint};
		struct stream_reader stream_reader = app_flow_stream_reader(&source);

		stream_end_hold(table->pool, &c->stream[endpoint], &stream_reader);
		ctx->now = source.now;
	}
	app_flow_report_ends(c, ctx->flow, false, &(struct app_flow_source){.ctx = ctx, .reader = table->reader});
	app_flow_update_hold(table, c);
}

/* Notes what the receiver of a stream acknowledges.  Numbers of an ACK do not decrease: if a segment that the receiver
 * sends for the first time acknowledges less than one before it, that one was wrong. */
static void
app_flow_note_ack(struct stream *s, const struct tcp_layer *t, uint32_t length)
{
	bool first = length != 0 && s->peer_known && tcp_seq_before(s->peer_end, t->seq + length);

	if ((t->flags & (TCP_ACK | TCP_RST)) != TCP_ACK)
		return;
	if (s->acked_known && !first && !tcp_seq_before(s->acked, t->ack))
		return;
	s->acked = t->ack;
	s->acked_known = true;
}

/* Passes a segment to the stream of its sender, and to the other one what it tells about that. */
static void
app_flow_read_packet(struct app_flow_table *table, struct app_flow *c, const struct packet *packet,
		     struct app_flow_source *source)
{
	const struct tcp_layer *t = &packet->tcp;
	struct app_context *ctx = source->ctx;
	uint32_t length = packet->payload_wire + ((t->flags & TCP_SYN) != 0) + ((t->flags & TCP_FIN) != 0);

	if (!ctx->kept)
		app_flow_note_ack(&c->stream[1 - source->sender], t, length);
	/* What the sender acknowledges it received before it sent these bytes. */
	if ((t->flags & TCP_RST) == 0)
		app_flow_release(table, c, t->seq, source);
	app_flow_read_ack(table, c, packet, source);
	if (!ctx->traced && c->stream[source->sender].begun && !app_flow_reader_needs_bytes(source->reader, ctx)) {
		stream_end(table->pool, &c->stream[source->sender]);
	} else if (packet->payload_wire > 0 && (t->flags & TCP_RST) == 0 &&
		   app_flow_reader_needs_bytes(source->reader, ctx)) {
		app_flow_read_segment(table, c, ctx->flow, packet, source);
	}
	if ((t->flags & TCP_RST) == 0)
		app_flow_release(table, c, t->seq + length, source);
	ctx->now = source->now;
}

bool
app_flow_feed(struct app_flow_table *table, const struct flow_table *flow_table, const struct packet *packet,
	      unsigned sender, struct app_context *ctx)
{
	const struct app_reader *reader = table->reader;
	const struct flow *flow = ctx->flow;
	struct app_flow_source source = {.ctx = ctx, .reader = reader, .now = ctx->now, .sender = sender};
	struct app_flow *c;

	ctx->cid = flow_cid(flow_table, flow, 0);
	c = app_flow_lookup(table, flow, ctx->cid);
	if (c == NULL && app_flow_is_needed(ctx, packet, sender)) {
		c = app_flow_create(table, flow, ctx->cid, 1 - ctx->server_endpoint);
		app_flow_set_ends(c, ctx, packet, sender);
	}
	if (c == NULL)
		return !ctx->traced || flow->tcp[sender].bytes < APP_FLOW_UNOPENED_MAX;
	if (c->list == APP_FLOWS_CLOSED)
		return false;
	ctx->table = table;
	ctx->app_flow = c;
	ctx->state = app_flow_state(table, c);
	source.app_flow = c;
	app_flow_read_packet(table, c, packet, &source);
	if (app_flow_is_reset(flow, sender, packet->tcp.flags))
		app_flow_read_reset(table, c, packet, &source);
	if (ctx->traced)
		app_flow_report_ends(c, flow, app_flow_is_reset(flow, sender, packet->tcp.flags), &source);
	if (app_flow_is_closed(ctx, c, reader, sender, packet->tcp.flags) || app_flow_is_read(c, reader, ctx->state)) {
		app_flow_retire(table, c);
		return false;
	}
	app_flow_update_hold(table, c);
	return true;
}

void
app_flow_feed_datagram(const struct app_reader *reader, const struct packet *packet, unsigned sender,
		       struct app_context *ctx)
{
	struct slice bytes = cursor_captured_slice(&packet->payload);

	if (bytes.len > packet->payload_wire)
		bytes.len = packet->payload_wire;
	reader->on_datagram(ctx, sender, bytes, packet->payload_wire);
}
