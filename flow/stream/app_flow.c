/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/app_flow.h"

#include "flow/stream/app_flow_pool.h"
#include "flow/tcp/tcp.h"

/* Context of the stream callbacks: a reading and the end that sends. */
struct source {
	struct reading *reading;
	const struct app_reader *reader;
	unsigned sender;
};

static void
on_bytes(void *context, struct view bytes)
{
	const struct source *source = context;

	source->reader->bytes(source->reading, source->sender, bytes);
}

static void
on_gap(void *context, uint32_t length)
{
	const struct source *source = context;

	source->reader->gap(source->reading, source->sender, length);
}

static void
on_odd(void *context, enum anomaly a)
{
	const struct source *source = context;

	source->reading->odd(source->reading->context, a);
}

/* Whether these `payload` bytes are the first ones captured from this end, and its SYN was captured too. */
static bool
is_first(const struct tcp_end *e, uint32_t payload)
{
	return (e->flags & TCP_END_ISS) != 0 && e->bytes <= payload;
}

static void
start_stream(struct conversations *all, struct conversation *c, const struct tcp_end *e, uint32_t seq,
	     uint32_t payload, struct source *source)
{
	bool beginning = is_first(e, payload);

	all->counters.midstream += !beginning;
	stream_begin(all->pool, &c->stream[source->sender], beginning ? e->iss + 1 : seq);
	source->reader->start(source->reading, source->sender, beginning);
}

/* Both ends have sent a FIN and both streams are read to the end, or a valid RST was seen. */
static bool
is_over(const struct flow *flow, const struct conversation *c, unsigned sender, uint8_t flags)
{
	if ((flags & TCP_RST) != 0)
		return flow->tcp[sender].state == TCP_STATE_CLOSED;
	for (unsigned end = 0; end < 2; end++)
		if ((flow->tcp[end].flags & TCP_END_FIN) == 0 ||
		    (c->stream[end].begun && c->stream[end].next != flow->tcp[end].nxt - 1))
			return false;
	return true;
}

static void
read_segment(struct conversations *all, struct conversation *c, const struct flow *flow, const struct packet *packet,
	     struct source *source)
{
	const struct tcp_end *peer = &flow->tcp[1 - source->sender];
	const struct tcp_layer *t = &packet->tcp;
	struct stream *s = &c->stream[source->sender];
	struct stream_reader to = {.bytes = on_bytes, .gap = on_gap, .odd = on_odd, .context = source};
	struct stream_segment segment = {
	    .seq = t->seq + ((t->flags & TCP_SYN) != 0),
	    .bytes = cursor_rest(&packet->payload),
	    .wire = packet->segment,
	    .has_acked = (peer->flags & TCP_END_SENT) != 0,
	    .acked = peer->acked,
	};

	if (segment.bytes.len > segment.wire)
		segment.bytes.len = segment.wire;
	if (!s->begun)
		start_stream(all, c, &flow->tcp[source->sender], segment.seq, segment.wire, source);
	if (source->reader->reads(source->reading->state, source->sender))
		stream_feed(all->pool, s, &segment, &to);
	else if (s->head != 0)
		stream_begin(all->pool, s, s->next); /* the reader needs no more bytes: drop the waiting segments */
}

void
conversation_take(struct conversations *all, const struct flow_table *table, const struct flow *flow,
		  const struct packet *packet, unsigned sender, const struct app_reader *reader,
		  struct reading *reading)
{
	uint64_t cid = flow_cid(table, flow, 0);
	struct conversation *c = conversation_find(all, flow, cid);
	struct source source = {.reading = reading, .reader = reader, .sender = sender};

	if (c == NULL && packet->segment > 0 && (packet->tcp.flags & TCP_RST) == 0)
		c = conversation_create(all, flow, cid, reader);
	if (c == NULL || c->over)
		return;
	reading->all = all;
	reading->conversation = c;
	reading->state = conversation_state(all, c);
	if (!reading->wanted && c->stream[sender].begun && !reader->needs(reading->state)) {
		stream_end(all->pool, &c->stream[sender]);
	} else if (packet->segment > 0 && (packet->tcp.flags & TCP_RST) == 0 &&
		   (reading->wanted || reader->needs(reading->state))) {
		read_segment(all, c, flow, packet, &source);
	}
	if (is_over(flow, c, sender, packet->tcp.flags))
		conversation_retire(all, c);
}
