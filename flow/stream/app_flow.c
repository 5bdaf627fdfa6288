/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/app_flow.h"

#include "flow/stream/app_flow_index.h"
#include "flow/tcp/tcp.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

#include "flow/memory.h"

/* Bytes of the parts of a table of `all` app flows; number 0 is unused. */
struct app_flow_sizes {
	size_t state; /* of one: whole cache lines */
	size_t entries, states, histories, buckets;
};

static void app_flow_retire(struct app_flow_table *table, struct app_flow *c);

static struct app_flow_sizes
app_flow_sizes_for(const struct app_reader *reader, uint32_t all)
{
	struct app_flow_sizes sizes = {.state = (reader->state_size + 63) & ~(size_t)63};
	size_t index_space = (size_t)all + 1;

	sizes.entries = index_space * sizeof(struct app_flow);
	sizes.states = index_space * sizes.state;
	sizes.histories = index_space * 2 * reader->history_size;
	sizes.buckets = 2 * (size_t)all * sizeof(uint32_t);
	return sizes;
}

struct app_flow_table *
app_flow_table_new(const struct app_reader *reader, const struct app_settings *settings, struct stream_pool *pool)
{
	struct app_flow_table *table = calloc(1, sizeof *table);
	struct app_flow_sizes sizes;

	if (table == NULL)
		return NULL;
	table->reader = reader;
	table->seed = settings->seed;
	table->pool = pool;
	table->connections_max = app_settings_share(settings, reader->connections_max);
	sizes = app_flow_sizes_for(reader, table->connections_max);
	table->state_size = sizes.state;
	table->bucket_mask = 2 * table->connections_max - 1;
	table->entries = memory_reserve(sizes.entries);
	table->states = memory_reserve(sizes.states);
	if (reader->history_size > 0)
		table->histories = memory_reserve(sizes.histories);
	table->bucket = memory_reserve(sizes.buckets);
	table->index = memory_reserve(sizes.buckets);
	if (table->entries == NULL || table->states == NULL || table->bucket == NULL || table->index == NULL ||
	    (reader->history_size > 0 && table->histories == NULL)) {
		app_flow_table_free(table);
		return NULL;
	}
	return table;
}

void
app_flow_table_free(struct app_flow_table *table)
{
	struct app_flow_sizes sizes;

	if (table == NULL)
		return;
	sizes = app_flow_sizes_for(table->reader, table->connections_max);
	memory_release(table->entries, sizes.entries);
	memory_release(table->states, sizes.states);
	memory_release(table->histories, sizes.histories);
	memory_release(table->bucket, sizes.buckets);
	memory_release(table->index, sizes.buckets);
	free(table);
}

size_t
app_flow_table_memory_size(const struct app_reader *reader, const struct app_settings *settings)
{
	struct app_flow_sizes sizes =
	    app_flow_sizes_for(reader, app_settings_share(settings, reader->connections_max));

	return sizeof(struct app_flow_table) + sizes.entries + sizes.states + sizes.histories + 2 * sizes.buckets;
}

void
app_flow_count_unread(struct app_flow_table *table, bool unread)
{
	if (unread)
		table->counters.unread++;
	else
		table->counters.unread--;
}

void
app_flow_count_cut(struct app_flow_table *table, const struct packet *packet)
{
	table->counters.cut += packet->payload.captured < packet->payload_wire;
}

const struct app_flow_counters *
app_flow_table_counters(const struct app_flow_table *table)
{
	return &table->counters;
}

/* Ids are consecutive, so their low bits are a good hash. */
static uint32_t *
app_flow_bucket(struct app_flow_table *table, uint64_t cid)
{
	return &table->bucket[cid / 2 & table->bucket_mask];
}

/* --- lists --- */

static void
app_flow_list_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	struct app_flow_ends *ends = &table->lists[c->list];

	if (c->newer != 0)
		table->entries[c->newer].older = c->older;
	else
		ends->newest = c->older;
	if (c->older != 0)
		table->entries[c->older].newer = c->newer;
	else
		ends->oldest = c->newer;
	table->retired -= c->list == APP_FLOWS_CLOSED;
}

static void
app_flow_list_push(struct app_flow_table *table, struct app_flow *c, enum app_flow_list list)
{
	struct app_flow_ends *ends = &table->lists[list];
	uint32_t index = app_flow_number(table, c);

	c->list = (uint8_t)list;
	c->newer = 0;
	c->older = ends->newest;
	if (ends->newest != 0)
		table->entries[ends->newest].newer = index;
	else
		ends->oldest = index;
	ends->newest = index;
	table->retired += list == APP_FLOWS_CLOSED;
}

/* --- sources --- */

/* The bucket of a client's address: of an IPv4 address the first 24 bits count, of an IPv6 address the first 64. */
static uint16_t
app_flow_source_of(const struct app_flow_table *table, const struct flow *flow, unsigned client)
{
	uint8_t prefix[9] = {flow->key.version};

	memcpy(prefix + 1, flow->key.addr[client], flow->key.version == 4 ? 3 : 8);
	return (uint16_t)(XXH3_64bits_withSeed(prefix, sizeof prefix, table->seed) % APP_FLOW_SOURCES);
}

static void
app_flow_source_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	struct app_flow_source_bucket *source = &table->sources[c->source];

	if (c->source_newer != 0)
		table->entries[c->source_newer].source_older = c->source_older;
	else
		source->ends.newest = c->source_older;
	if (c->source_older != 0)
		table->entries[c->source_older].source_newer = c->source_newer;
	else
		source->ends.oldest = c->source_newer;
	source->count--;
	table->unconfirmed--;
}

static void
app_flow_source_push(struct app_flow_table *table, struct app_flow *c)
{
	struct app_flow_source_bucket *source = &table->sources[c->source];
	uint32_t index = app_flow_number(table, c);

	c->source_newer = 0;
	c->source_older = source->ends.newest;
	if (source->ends.newest != 0)
		table->entries[source->ends.newest].source_newer = index;
	else
		source->ends.oldest = index;
	source->ends.newest = index;
	source->count++;
	table->unconfirmed++;
}

/* Moves an app flow to another list. */
static void
app_flow_set_list(struct app_flow_table *table, struct app_flow *c, enum app_flow_list list)
{
	if (c->list == APP_FLOWS_UNCONFIRMED && list != APP_FLOWS_UNCONFIRMED)
		app_flow_source_unlink(table, c);
	app_flow_list_unlink(table, c);
	app_flow_list_push(table, c, list);
}

/* Both ends have sent a complete message. */
static void
app_flow_confirm(struct app_flow_table *table, struct app_flow *c)
{
	if (c->list == APP_FLOWS_UNCONFIRMED)
		app_flow_set_list(table, c, APP_FLOWS_CONFIRMED);
}

/* --- create and remove --- */

/* The app flow of a connection, moved to the front of its list; NULL if there is none. */
static struct app_flow *
app_flow_lookup(struct app_flow_table *table, const struct flow *flow, uint64_t cid)
{
	for (uint32_t index = *app_flow_bucket(table, cid); index != 0; index = table->entries[index].bucket_next) {
		struct app_flow *c = &table->entries[index];

		if (c->cid != cid || c->flow != flow)
			continue;
		if (c->list != APP_FLOWS_CLOSED && table->lists[c->list].newest != index)
			app_flow_set_list(table, c, (enum app_flow_list)c->list);
		return c;
	}
	return NULL;
}

struct app_flow *
app_flow_find_held(struct app_flow_table *table, const struct flow *flow, uint64_t cid)
{
	struct app_flow *c = table->held.oldest != 0 ? app_flow_lookup(table, flow, cid) : NULL;

	return c != NULL && c->held_until != 0 ? c : NULL;
}

uint64_t
app_flow_held_until(const struct app_flow *c)
{
	return c->held_until;
}

static void
app_flow_held_unlink(struct app_flow_table *table, struct app_flow *c)
{
	if (c->held_newer != 0)
		table->entries[c->held_newer].held_older = c->held_older;
	else
		table->held.newest = c->held_older;
	if (c->held_older != 0)
		table->entries[c->held_older].held_newer = c->held_newer;
	else
		table->held.oldest = c->held_newer;
	c->held_until = 0;
}

/* Puts an app flow whose bytes are held until `until`, packet time in ns, into the list of those, or takes it out of
 * it if `until` is 0. */
static void
app_flow_set_held(struct app_flow_table *table, struct app_flow *c, uint64_t until)
{
	uint32_t index = app_flow_number(table, c), older = table->held.newest;

	if (c->held_until == until)
		return;
	if (c->held_until != 0)
		app_flow_held_unlink(table, c);
	if (until == 0)
		return;
	/* Nearly always it is the newest. */
	for (older = table->held.newest; older != 0 && table->entries[older].held_until > until;)
		older = table->entries[older].held_older;
	c->held_until = until;
	c->held_older = older;
	c->held_newer = older != 0 ? table->entries[older].held_newer : table->held.oldest;
	if (c->held_newer != 0)
		table->entries[c->held_newer].held_older = index;
	else
		table->held.newest = index;
	if (older != 0)
		table->entries[older].held_newer = index;
	else
		table->held.oldest = index;
}

uint64_t
app_flow_next_timeout(const struct app_flow_table *table)
{
	return table->held.oldest != 0 ? table->entries[table->held.oldest].held_until : UINT64_MAX;
}

struct app_flow *
app_flow_find_timeout(const struct app_flow_table *table, uint64_t now, const struct flow **flow, uint64_t *cid)
{
	struct app_flow *c = &table->entries[table->held.oldest];

	if (app_flow_next_timeout(table) > now)
		return NULL;
	*flow = c->flow;
	*cid = c->cid;
	return c;
}

/* Counts what was not read of the streams that are. */
static void
app_flow_count_undelivered(const struct app_flow_table *table, const struct app_flow *c)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		if (table->reader->is_reading(app_flow_state(table, c), endpoint))
			stream_count_undelivered(table->pool, &c->stream[endpoint]);
}

void
app_flow_table_end(const struct app_flow_table *table)
{
	for (uint32_t index = 1; index <= table->high_water; index++) {
		const struct app_flow *c = &table->entries[index];

		if (c->flow != NULL && c->list != APP_FLOWS_CLOSED)
			app_flow_count_undelivered(table, c);
	}
}

static void
app_flow_end_streams(struct app_flow_table *table, struct app_flow *c)
{
	app_flow_count_undelivered(table, c);
	app_flow_set_held(table, c, 0);
	stream_end(table->pool, &c->stream[0]);
	stream_end(table->pool, &c->stream[1]);
}

static void
app_flow_bucket_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	uint32_t *link = app_flow_bucket(table, c->cid);

	while (*link != app_flow_number(table, c))
		link = &table->entries[*link].bucket_next;
	*link = c->bucket_next;
}

/* Removes an app flow; its entry is free. */
static void
app_flow_remove(struct app_flow_table *table, struct app_flow *c)
{
	if (c->list != APP_FLOWS_CLOSED) {
		app_flow_end_streams(table, c);
		table->counters.evicted += c->list == APP_FLOWS_CONFIRMED;
		table->counters.evicted_unconfirmed += c->list == APP_FLOWS_UNCONFIRMED;
		table->counters.active--;
	}
	app_flow_index_remove(table, c);
	app_flow_set_list(table, c, APP_FLOWS_CLOSED);
	app_flow_list_unlink(table, c);
	app_flow_bucket_unlink(table, c);
	c->flow = NULL;
	c->bucket_next = table->free_head;
	table->free_head = app_flow_number(table, c);
}

/* Closed app flows are evicted first.  Unconfirmed ones come before confirmed ones, except for a share that lets new
 * connections be confirmed while the table is full. */
static uint32_t
app_flow_pick_victim(const struct app_flow_table *table)
{
	if (table->lists[APP_FLOWS_CLOSED].oldest != 0)
		return table->lists[APP_FLOWS_CLOSED].oldest;
	if (table->unconfirmed > APP_FLOWS_UNCONFIRMED_MIN(table->connections_max) ||
	    table->lists[APP_FLOWS_CONFIRMED].oldest == 0)
		return table->lists[APP_FLOWS_UNCONFIRMED].oldest;
	return table->lists[APP_FLOWS_CONFIRMED].oldest;
}

static struct app_flow *
app_flow_alloc(struct app_flow_table *table, uint16_t source)
{
	uint32_t all = table->connections_max, index;

	if (table->sources[source].count >= APP_FLOWS_SOURCE_MAX(all))
		app_flow_remove(table, &table->entries[table->sources[source].ends.oldest]);
	else if (table->unconfirmed >= APP_FLOWS_UNCONFIRMED_MAX(all))
		app_flow_remove(table, &table->entries[table->lists[APP_FLOWS_UNCONFIRMED].oldest]);
	else if (table->free_head == 0 && (table->high_water == all || table->retired > APP_FLOWS_RETIRED_MAX))
		app_flow_remove(table, &table->entries[app_flow_pick_victim(table)]);
	index = table->free_head;
	if (index == 0)
		index = ++table->high_water;
	else
		table->free_head = table->entries[index].bucket_next;
	return &table->entries[index];
}

/* Creates an app flow of a connection whose endpoint `client` opened it.  Evicts another one if the table, or the
 * share of unconfirmed app flows, is full. */
static struct app_flow *
app_flow_create(struct app_flow_table *table, const struct flow *flow, uint64_t cid, unsigned client)
{
	uint16_t source = app_flow_source_of(table, flow, client);
	struct app_flow *c = app_flow_alloc(table, source);
	uint32_t index = app_flow_number(table, c), *bucket = app_flow_bucket(table, cid);

	*c = (struct app_flow){.flow = flow, .cid = cid, .bucket_next = *bucket, .source = source};
	for (unsigned sender = 0; sender < 2 && table->histories != NULL; sender++) {
		c->stream[sender].history_size = table->reader->history_size;
		c->stream[sender].history =
		    table->histories + ((size_t)index * 2 + sender) * table->reader->history_size;
	}
	*bucket = index;
	app_flow_list_push(table, c, APP_FLOWS_UNCONFIRMED);
	app_flow_source_push(table, c);
	memset(app_flow_state(table, c), 0, table->state_size);
	table->counters.begun++;
	table->counters.active++;
	return c;
}

void
app_flow_table_clear(struct app_flow_table *table)
{
	for (uint32_t index = 1; index <= table->high_water; index++) {
		struct app_flow *c = &table->entries[index];

		if (c->flow == NULL)
			continue;
		if (c->list != APP_FLOWS_CLOSED)
			app_flow_retire(table, c);
		app_flow_remove(table, c);
	}
}

/* The connection is over, or its reader needs no more bytes: its app flow becomes the first candidate for eviction. */
static void
app_flow_retire(struct app_flow_table *table, struct app_flow *c)
{
	app_flow_end_streams(table, c);
	table->counters.active--;
	app_flow_set_list(table, c, APP_FLOWS_CLOSED);
}

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
	/* In mid-stream its first bytes may be after others in the capture. */
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

/* Whether an endpoint of which no data were captured has sent no data: neither its FIN nor an ACK of its peer is after
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
