/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/app_layer.h"

#include <stdlib.h>

#include "flow/record/flow_record.h"
#include "flow/stream/first_bytes_pool.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"

/* Bytes of a client within which a connection is recognised although its first bytes come late. */
#define APP_LATE_BYTES_MAX 65536u

_Static_assert(FLOW_APP_FIRST + APP_COUNT < FLOW_APP_NONE, "flow.app has 5 bits");

static bool
app_layer_open_provider(struct app_layer *app_layer, unsigned app, const struct app_settings *settings)
{
	const struct app_reader *reader = app_protocols[app]->reader;

	app_layer->app_flows[app] = app_flow_table_new(reader, settings, app_layer->streams);
	if (reader->open != NULL)
		app_layer->shared[app] = reader->open(settings);
	return app_layer->app_flows[app] != NULL && (reader->open == NULL || app_layer->shared[app] != NULL);
}

struct app_layer *
app_layer_new(const struct config *config, struct flow_table *flows, uint64_t seed, unsigned workers,
	      uint64_t *anomalies)
{
	const struct app_settings settings = {seed, config->app_timeout_ns, workers};
	struct app_layer *app_layer = calloc(1, sizeof *app_layer);

	if (app_layer == NULL)
		return NULL;
	app_layer->config = config;
	app_layer->flows = flows;
	app_layer->anomalies = anomalies;
	app_layer->next_timeout = UINT64_MAX;
	app_layer->streams = stream_pool_new();
	app_layer->first_bytes = app_layer->streams != NULL ? first_bytes_pool_new(app_layer->streams) : NULL;
	for (unsigned i = 0; i < APP_COUNT; i++) {
		if (app_layer->first_bytes == NULL || !app_layer_open_provider(app_layer, i, &settings)) {
			app_layer_free(app_layer);
			return NULL;
		}
	}
	return app_layer;
}

void
app_layer_free(struct app_layer *app_layer)
{
	if (app_layer == NULL)
		return;
	for (unsigned i = 0; i < APP_COUNT; i++) {
		app_flow_table_free(app_layer->app_flows[i]);
		if (app_layer->shared[i] != NULL)
			app_protocols[i]->reader->close(app_layer->shared[i]);
	}
	first_bytes_pool_free(app_layer->first_bytes);
	stream_pool_free(app_layer->streams);
	free(app_layer);
}

size_t
app_layer_memory_size(unsigned workers)
{
	const struct app_settings settings = {.workers = workers};
	size_t size = sizeof(struct app_layer) + stream_pool_memory_size() + first_bytes_pool_memory_size();

	for (unsigned i = 0; i < APP_COUNT; i++) {
		const struct app_reader *reader = app_protocols[i]->reader;

		size += app_flow_table_memory_size(reader, &settings);
		if (reader->shared_size != NULL)
			size += reader->shared_size(&settings);
	}
	return size;
}

/* ----------------------------------------------------------------------------------------------- active providers */

static bool
app_layer_is_active(const struct app_protocol *protocol, bool names, bool traced)
{
	return traced || protocol->reader->needs_bytes != NULL || (names && protocol->names);
}

/* What was read while the probes of a provider were enabled, or before they were, is of no use afterwards: bytes in
 * between are not read. */
static void
app_layer_forget(struct app_layer *app_layer, unsigned app)
{
	const struct app_reader *reader = app_protocols[app]->reader;

	if (reader->needs_bytes != NULL)
		return;
	app_flow_table_clear(app_layer->app_flows[app]);
	if (app_layer->shared[app] != NULL)
		reader->clear(app_layer->shared[app]);
}

/* The default of a connection whose next packet has not come; that packet decides. */
static bool
app_layer_is_slow(const void *context, const struct flow *flow)
{
	const struct app_layer *app_layer = context;

	if (flow->kind == FLOW_SCTP || flow->app == FLOW_APP_NONE)
		return false;
	if (flow->app == FLOW_APP_UNDECIDED)
		return app_layer_may_match(app_layer, &flow->key);
	return (app_layer->active >> (flow->app - FLOW_APP_FIRST) & 1) != 0;
}

void
app_layer_select(struct app_layer *app_layer, bool names)
{
	uint32_t active = 0, traced = 0;

	for (unsigned i = 0; i < APP_COUNT; i++) {
		bool enabled = app_probes_enabled(app_protocols[i]);

		traced |= (uint32_t)enabled << i;
		active |= (uint32_t)app_layer_is_active(app_protocols[i], names, enabled) << i;
	}
	if (active == app_layer->active && traced == app_layer->traced)
		return;
	for (unsigned i = 0; i < APP_COUNT; i++)
		if (((active ^ app_layer->active) >> i & 1) != 0 || ((traced ^ app_layer->traced) >> i & 1) != 0)
			app_layer_forget(app_layer, i);
	first_bytes_pool_clear(app_layer->first_bytes);
	app_layer->active = active;
	app_layer->traced = traced;
	app_layer->port_filter = 0;
	app_layer->recognising = false;
	for (unsigned i = 0; i < APP_COUNT; i++) {
		const struct app_ports *ports = &app_layer->config->app_ports[i];

		if ((active >> i & 1) == 0)
			continue;
		app_layer->recognising |=
		    app_protocols[i]->reader->recognises != NULL && !app_layer->config->ports_only;
		for (unsigned p = 0; p < ports->count; p++)
			app_layer->port_filter |= 1ull << (ports->port[p] & 63);
	}
	flow_table_set_slow(app_layer->flows, app_layer_is_slow, app_layer);
}

/* ----------------------------------------------------------------------------------------------------- the provider */

static bool
port_list_contains(const struct app_ports *ports, uint16_t port)
{
	for (unsigned i = 0; i < ports->count; i++)
		if (ports->port[i] == port)
			return true;
	return false;
}

/* Bit n: endpoint n has a port of the provider. */
static unsigned
app_layer_serving_endpoints(const struct app_layer *app_layer, unsigned app, const struct flow_key *key)
{
	const struct app_ports *ports = &app_layer->config->app_ports[app];

	return port_list_contains(ports, key->port[0]) | (unsigned)port_list_contains(ports, key->port[1]) << 1;
}

/* The value of flow.app by the ports. */
static unsigned
app_layer_find_by_port(const struct app_layer *app_layer, const struct flow *flow)
{
	for (unsigned i = 0; i < APP_COUNT; i++) {
		const struct app_reader *reader = app_protocols[i]->reader;

		if (flow->kind == FLOW_UDP ? reader->on_datagram == NULL : reader->on_bytes == NULL)
			continue;
		if (app_layer_serving_endpoints(app_layer, i, &flow->key) != 0)
			return FLOW_APP_FIRST + i;
	}
	return FLOW_APP_NONE;
}

/* The value of flow.app by the first bytes of the client, the end that opened the connection; FLOW_APP_NONE if they are
 * of no protocol, FLOW_APP_UNDECIDED if more of them tell.  The provider `by_port` reads what may be its own. */
static unsigned
app_layer_recognise(const struct app_layer *app_layer, struct slice first, unsigned by_port)
{
	unsigned app = FLOW_APP_NONE;

	for (unsigned i = 0; i < APP_COUNT && !app_layer->config->ports_only; i++) {
		const struct app_reader *reader = app_protocols[i]->reader;
		enum app_match match = reader->recognises != NULL ? reader->recognises(first) : APP_MATCH_NO;

		if (match == APP_MATCH_YES || (match == APP_MATCH_UNDECIDED && by_port == FLOW_APP_FIRST + i))
			return FLOW_APP_FIRST + i;
		if (match == APP_MATCH_UNDECIDED && (app_layer->active >> i & 1) != 0)
			app = FLOW_APP_UNDECIDED;
	}
	return app;
}

/* The endpoint of a TCP connection that opened it, by the SYNs that were captured; in mid-stream the one that was
 * captured first. */
static unsigned
app_layer_client(const struct flow *flow)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		if ((flow->tcp[endpoint].flags & TCP_EP_ACTIVE_OPEN) != 0)
			return endpoint;
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		if ((flow->tcp[endpoint].flags & TCP_EP_ISS_KNOWN) != 0)
			return 1 - endpoint;
	return flow->first_sender;
}

/* A payload of a connection, and what is known about it. */
struct app_decision {
	struct app_layer *app_layer;
	const struct app_segment *segment;
	struct first_bytes *first; /* NULL: no segments are kept */
	uint64_t cid;
	unsigned by_port; /* value of flow.app by the ports */
	bool from_client; /* by the end that opened the connection, as far as it is known */
};

/* The endpoint with a port of the provider.  If both have one, or neither, the end that did not open the connection; in
 * mid-stream the one that was captured later. */
static unsigned
app_layer_server_endpoint(const struct app_layer *app_layer, unsigned app, const struct flow *flow)
{
	unsigned serving = app_layer_serving_endpoints(app_layer, app, &flow->key);

	if (serving == 1 || serving == 2)
		return serving - 1;
	return flow->kind == FLOW_TCP ? 1 - app_layer_client(flow) : !flow->first_sender;
}

/* The client of a connection whose first segments are kept. */
static unsigned
app_layer_kept_client(const struct app_decision *decision)
{
	const struct flow *flow = decision->segment->flow;

	if (decision->by_port == FLOW_APP_NONE)
		return decision->segment->sender;
	return 1 - app_layer_server_endpoint(decision->app_layer, decision->by_port - FLOW_APP_FIRST, flow);
}

/* Keeps the segment.  False if there is no memory for all of it, or if no end is local: then no probe fires. */
static bool
app_layer_keep(struct app_decision *decision)
{
	const struct app_segment *segment = decision->segment;
	struct first_bytes_pool *pool = decision->app_layer->first_bytes;

	if (segment->packet->payload_wire == 0)
		return true;
	if (segment->flow->local == 0)
		return false;
	if (decision->first == NULL)
		decision->first = first_bytes_begin(pool, segment->flow, decision->cid,
						    app_layer_kept_client(decision));
	return first_bytes_add(pool, decision->first, segment->packet, segment->packet_id, segment->sender,
			       segment->now, app_flow_is_late(segment->flow, segment->packet, segment->sender));
}

/* The same, but nothing of a segment for which no memory is left: the reader gets it at once. */
static bool
app_layer_keep_whole(struct app_decision *decision)
{
	return first_bytes_has_room(decision->first, decision->segment->packet) && app_layer_keep(decision);
}

/* The value of flow.app by the client's first bytes, all that have come, and else by the port. */
static unsigned
app_layer_decide_by_bytes(struct app_decision *decision, struct slice first)
{
	const struct packet *packet = decision->segment->packet;
	unsigned app = app_layer_recognise(decision->app_layer, first, decision->by_port);
	bool whole = cursor_captured_slice(&packet->payload).len >= packet->payload_wire;

	if (app != FLOW_APP_UNDECIDED)
		return app != FLOW_APP_NONE ? app : decision->by_port;
	return whole && app_layer_keep_whole(decision) ? FLOW_APP_UNDECIDED : decision->by_port;
}

/* The first bytes of the client have not come.  If the server has acknowledged them, they may not have been captured: a
 * provider that knows the port does without them. */
static unsigned
app_layer_decide_late(struct app_decision *decision)
{
	const struct app_segment *segment = decision->segment;
	const struct tcp_endpoint *e = &segment->flow->tcp[segment->sender], *peer =
	    &segment->flow->tcp[1 - segment->sender];
	bool acked = tcp_seq_before(e->iss + 1, peer->last_ack_sent);

	if (!decision->from_client || e->bytes >= APP_LATE_BYTES_MAX || (acked && decision->by_port != FLOW_APP_NONE))
		return decision->by_port;
	if (app_layer_keep_whole(decision))
		return FLOW_APP_UNDECIDED;
	return decision->by_port == FLOW_APP_NONE ? FLOW_APP_UNDECIDED : decision->by_port;
}

/* Data of a connection that is not opened, of a SYN or SYN,ACK, too: they count when it is.  Not if only one direction
 * is captured. */
static unsigned
app_layer_decide_unopened(struct app_decision *decision)
{
	const struct app_segment *segment = decision->segment;
	struct slice bytes = cursor_captured_slice(&segment->packet->payload);
	bool needed = decision->first != NULL || decision->by_port != FLOW_APP_NONE ||
		      (decision->from_client && app_layer_recognise(decision->app_layer, bytes, FLOW_APP_NONE) !=
						    FLOW_APP_NONE);

	if (needed && segment->flow->tcp[segment->sender].bytes >= APP_FLOW_UNOPENED_MAX)
		return FLOW_APP_NONE;
	if (needed)
		app_layer_keep(decision);
	return needed || (segment->packet->tcp.flags & TCP_SYN) != 0 ? FLOW_APP_UNDECIDED : FLOW_APP_NONE;
}

/* Whether a server has not shown that it has accepted the ACK of its SYN,ACK, nor data of the SYN; or has refused. */
static bool
app_layer_is_unproved(const struct flow *flow)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct tcp_endpoint *e = &flow->tcp[endpoint], *peer = &flow->tcp[1 - endpoint];

		if ((e->flags & TCP_EP_ACTIVE_OPEN) != 0 || (peer->flags & TCP_EP_ISS_KNOWN) == 0)
			continue;
		if ((e->state == TCP_STATE_SYN_RECEIVED && e->last_ack_sent == peer->iss + 1) ||
		    (e->state == TCP_STATE_CLOSED && e->rcv_nxt == peer->iss + 1))
			return true;
	}
	return false;
}

/* Whether the client's data wait for the server to prove that it has a connection: not those of which nothing shows
 * that a provider reads them, nor more than are kept. */
static bool
app_layer_waits_for_proof(struct app_decision *decision, struct slice first)
{
	struct first_bytes_pool *pool = decision->app_layer->first_bytes;

	if (decision->segment->last || !app_layer_is_unproved(decision->segment->flow) ||
	    (decision->first == NULL && first_bytes_pool_count(pool) == FIRST_BYTES_CONNECTIONS))
		return false;
	if (first.len > 0 && decision->by_port == FLOW_APP_NONE &&
	    app_layer_recognise(decision->app_layer, first, FLOW_APP_NONE) == FLOW_APP_NONE)
		return false;
	return app_layer_keep_whole(decision);
}

static unsigned
app_layer_decide_tcp(struct app_decision *decision)
{
	const struct app_segment *segment = decision->segment;
	const struct packet *packet = segment->packet;
	bool syn = (packet->tcp.flags & TCP_SYN) != 0;
	uint8_t buffer[APP_FIRST_BYTES_MAX];
	struct slice bytes = {NULL, 0};

	if (!app_flow_is_opened(segment->flow, packet, segment->sender))
		return app_layer_decide_unopened(decision);
	if (decision->first != NULL)
		bytes = first_bytes_head(decision->app_layer->first_bytes, decision->first, packet, segment->sender,
					 buffer, sizeof buffer);
	else if (decision->from_client && packet->tcp.seq + syn == segment->flow->tcp[segment->sender].iss + 1)
		bytes = cursor_captured_slice(&packet->payload);
	if (app_layer_waits_for_proof(decision, bytes))
		return FLOW_APP_UNDECIDED;
	return bytes.len > 0 ? app_layer_decide_by_bytes(decision, bytes) : app_layer_decide_late(decision);
}

/* The segments of the connection that are kept.  Those of an earlier connection attempt are dropped, and data of a SYN
 * that are not part of the stream. */
static struct first_bytes *
app_layer_find_first(struct app_layer *app_layer, const struct app_segment *segment, uint64_t cid)
{
	struct first_bytes *first = first_bytes_find(app_layer->first_bytes, segment->flow, cid);

	if (first == NULL)
		return NULL;
	first_bytes_settle(first, segment->packet, segment->sender);
	if (first_bytes_are_current(first))
		return first;
	first_bytes_drop(app_layer->first_bytes, first);
	return NULL;
}

/* Counts a connection whose beginning, or one direction, is not captured, until a message of it is read. */
static void
app_layer_note_unread(const struct app_decision *decision)
{
	struct flow *flow = decision->segment->flow;
	const struct packet *packet = decision->segment->packet;
	struct app_flow_table **tables = decision->app_layer->app_flows;
	bool decided = flow->app != FLOW_APP_UNDECIDED && flow->app != FLOW_APP_NONE;
	unsigned app = decided ? flow->app : decision->by_port;

	if (flow->unread && app != decision->by_port && app != FLOW_APP_NONE && decision->by_port != FLOW_APP_NONE) {
		app_flow_count_unread(tables[decision->by_port - FLOW_APP_FIRST], false);
		app_flow_count_unread(tables[app - FLOW_APP_FIRST], true);
	}
	if (flow->unread || flow->local == 0 || app == FLOW_APP_NONE || packet->payload_wire == 0 ||
	    (packet->tcp.flags & (TCP_SYN | TCP_RST)) != 0 ||
	    (app_flow_has_beginning(flow) && app_flow_is_opened(flow, packet, decision->segment->sender)) ||
	    app_flow_is_whole(flow, packet, decision->segment->sender) ||
	    (decision->app_layer->traced >> (app - FLOW_APP_FIRST) & 1) == 0)
		return;
	flow->unread = true;
	app_flow_count_unread(tables[app - FLOW_APP_FIRST], true);
}

/* Decides which provider reads the connection, with its first payload: first bytes that are recognised count more than
 * ports, because any protocol may be spoken on any port.  Segments are kept until they tell. */
static void
app_layer_decide(struct app_layer *app_layer, const struct app_segment *segment)
{
	struct flow *flow = segment->flow;
	struct app_decision decision = {.app_layer = app_layer, .segment = segment};

	if (flow->kind == FLOW_TCP) {
		if (!segment->on_send_side)
			return;
		decision.cid = flow_cid(app_layer->flows, flow, 0);
		decision.first = app_layer_find_first(app_layer, segment, decision.cid);
		decision.from_client = app_layer_client(flow) == segment->sender;
	}
	if (segment->packet->payload_wire == 0 && decision.first == NULL)
		return;
	decision.by_port = app_layer_find_by_port(app_layer, flow);
	flow->app = (flow->kind == FLOW_TCP ? app_layer_decide_tcp(&decision) : decision.by_port) & 31u;
	if (flow->kind == FLOW_TCP)
		app_layer_note_unread(&decision);
	if (flow->app == FLOW_APP_NONE && decision.first != NULL)
		first_bytes_drop(app_layer->first_bytes, decision.first);
}

/* ----------------------------------------------------------------------------------------------------- the endpoint */

/* The endpoint that is reported: the server if it is local, else the client; 2 if neither is local. */
static unsigned
app_layer_reporting_endpoint(const struct flow *flow, unsigned server)
{
	if ((flow->local >> server & 1) != 0)
		return server;
	return (flow->local >> (1 - server) & 1) != 0 ? 1 - server : 2;
}

struct app_report {
	struct app_layer *app_layer;
	struct emitter *emitter;
	const struct app_protocol *protocol;
	unsigned app; /* its number */
	const struct flow *flow;
	unsigned endpoint;
	bool read; /* a message was read */
};

static void
app_layer_on_message(void *context, unsigned sender, const void *message)
{
	struct app_report *report = context;

	(void)sender;
	report->read = true;
	report->protocol->fire(report->emitter, report->flow, report->endpoint, message);
}

static void
app_layer_on_anomaly(void *context, enum anomaly a)
{
	const struct app_report *report = context;

	report->app_layer->anomalies[a]++;
}

static void
app_layer_on_name(void *context, const char *name)
{
	const struct app_report *report = context;

	flow_table_set_name(report->app_layer->flows, report->flow, name, report->protocol->name);
}

/* The first numbers of both ends: of the segments that are kept, and of this one. */
static void
app_layer_set_first(const struct first_bytes *first, const struct app_segment *segment, struct app_context *ctx)
{
	const struct tcp_layer *t = &segment->packet->tcp;

	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		uint32_t *seq = &ctx->first[endpoint];
		bool known = first_bytes_get_first(first, endpoint, seq);

		if (endpoint == segment->sender && (!known || tcp_seq_before(t->seq, *seq))) {
			*seq = t->seq;
			known = true;
		}
		ctx->first_known |= (uint8_t)(known << endpoint);
	}
}

/* Passes the first segments of the connection to the reader.  False if its later packets are not needed. */
static bool
app_layer_read_first(struct app_layer *app_layer, struct first_bytes *first, const struct app_segment *segment,
		     const struct app_report *report, struct app_context *ctx)
{
	uint64_t now = ctx->now;
	bool needed = true;
	uint8_t head;

	/* Unless the client's first bytes are missing, with this segment, too. */
	ctx->from_first = first_bytes_head(app_layer->first_bytes, first, segment->packet, segment->sender, &head,
					   sizeof head).len > 0;
	app_layer_set_first(first, segment, ctx);
	for (unsigned i = 0; i < first->count && needed; i++) {
		struct packet packet;

		first_bytes_get_packet(app_layer->first_bytes, first, i, &packet);
		ctx->now = first->segments[i].time;
		emitter_set_moment(report->emitter, first->segments[i].packet_id, ctx->now);
		ctx->late = first->segments[i].late;
		ctx->kept = true;
		app_flow_count_cut(app_layer->app_flows[report->app], &packet);
		needed = app_flow_feed(app_layer->app_flows[report->app], app_layer->flows, &packet,
				       first->segments[i].sender, ctx);
	}
	ctx->now = now;
	emitter_set_moment(report->emitter, segment->packet_id, now);
	ctx->kept = false;
	first_bytes_drop(app_layer->first_bytes, first);
	return needed;
}

/* Passes a segment to the reader, and before it those that are kept.  False if the connection's later packets are not
 * needed. */
static bool
app_layer_read_segment(struct app_layer *app_layer, const struct app_segment *segment, const struct app_report *report,
		       struct app_context *ctx)
{
	struct first_bytes *first = first_bytes_find(app_layer->first_bytes, segment->flow, ctx->cid);

	if (first != NULL && !app_layer_read_first(app_layer, first, segment, report, ctx))
		return false;
	app_flow_count_cut(app_layer->app_flows[report->app], segment->packet);
	return app_flow_feed(app_layer->app_flows[report->app], app_layer->flows, segment->packet, segment->sender,
			     ctx);
}

/* Passes the segment or datagram to the reader.  False if the connection's later packets are not needed. */
static bool
app_layer_read(struct app_layer *app_layer, const struct app_segment *segment, struct app_report *report,
	       unsigned server)
{
	bool wants_name = report->protocol->names && flow_table_wants_name(app_layer->flows, segment->flow);
	struct app_context ctx = {
	    .flow = segment->flow,
	    .cid = flow_cid(app_layer->flows, segment->flow, 0),
	    .now = segment->now,
	    .shared = app_layer->shared[report->app],
	    .server_endpoint = server,
	    .traced = wants_name || app_probes_enabled(report->protocol),
	    .on_message = app_layer_on_message,
	    .on_anomaly = app_layer_on_anomaly,
	    .on_name = wants_name ? app_layer_on_name : NULL,
	    .context = report,
	};

	if (!ctx.traced && report->protocol->reader->needs_bytes == NULL)
		return false;
	if (segment->flow->kind == FLOW_TCP) {
		if (app_layer_read_segment(app_layer, segment, report, &ctx))
			return true;
		segment->flow->app = FLOW_APP_NONE;
		return false;
	}
	app_flow_count_cut(app_layer->app_flows[report->app], segment->packet);
	app_flow_feed_datagram(report->protocol->reader, segment->packet, segment->sender, &ctx);
	return true;
}

static void
app_layer_update_timeout(struct app_layer *app_layer, unsigned app)
{
	const struct app_reader *reader = app_protocols[app]->reader;
	uint64_t next;

	next = app_flow_next_timeout(app_layer->app_flows[app]);
	if (next < app_layer->next_timeout)
		app_layer->next_timeout = next;
	if (reader->next_timeout == NULL)
		return;
	next = reader->next_timeout(app_layer->shared[app]);
	if (next < app_layer->next_timeout)
		app_layer->next_timeout = next;
}

/* A connection of which a message was read does not count as one that is not read. */
static void
app_layer_note_read(const struct app_report *report, struct flow *flow)
{
	if (!report->read || !flow->unread)
		return;
	flow->unread = false;
	app_flow_count_unread(report->app_layer->app_flows[report->app], false);
}

void
app_layer_observe(struct app_layer *app_layer, struct emitter *emitter, const struct app_segment *segment)
{
	struct app_report report = {.app_layer = app_layer, .emitter = emitter, .flow = segment->flow};
	struct flow *flow = segment->flow;
	unsigned server;

	if (flow->app == FLOW_APP_UNDECIDED)
		app_layer_decide(app_layer, segment);
	if (flow->app == FLOW_APP_UNDECIDED || !app_layer_is_slow(app_layer, flow)) {
		flow->slow = app_layer_is_slow(app_layer, flow);
		return;
	}
	report.app = flow->app - FLOW_APP_FIRST;
	report.protocol = app_protocols[report.app];
	server = app_layer_server_endpoint(app_layer, report.app, flow);
	report.endpoint = app_layer_reporting_endpoint(flow, server);
	if (report.endpoint > 1) {
		flow->slow = false;
		return;
	}
	if (segment->on_send_side != (segment->has_send_side && report.endpoint == segment->sender))
		return;
	flow->slow = app_layer_read(app_layer, segment, &report, server);
	app_layer_note_read(&report, flow);
	app_layer_update_timeout(app_layer, report.app);
}

/* ----------------------------------------------------------------------------------------------------- the timeouts */

static bool
app_layer_on_timeout(void *context, const struct flow *flow, uint64_t cid, uint64_t time, const void *message)
{
	const struct app_report *report = context;
	const struct app_layer *app_layer = report->app_layer;
	unsigned endpoint;

	/* The memory of a flow that was removed may be free, or another connection's. */
	if (flow_cid(app_layer->flows, flow, 0) != cid)
		return false;
	/* Not by flow.app: a connection that has ended is no longer read. */
	endpoint = app_layer_reporting_endpoint(flow, app_layer_server_endpoint(app_layer, report->app, flow));
	if (endpoint > 1)
		return true;
	emitter_begin_timer(report->emitter, time);
	report->protocol->fire(report->emitter, flow, endpoint, message);
	emitter_end_timer(report->emitter);
	return true;
}

static void
app_layer_run_provider_timers(struct app_layer *app_layer, unsigned app, struct emitter *emitter, uint64_t now)
{
	struct app_report report = {.app_layer = app_layer, .emitter = emitter, .protocol = app_protocols[app],
				    .app = app};
	struct app_context ctx = {.now = now,
				  .shared = app_layer->shared[app],
				  .on_anomaly = app_layer_on_anomaly,
				  .on_timeout = app_layer_on_timeout,
				  .context = &report};

	app_protocols[app]->reader->on_time(&ctx);
}

/* Delivers what is held of an app flow.  `flow`: its connection, NULL if the flow table has removed that. */
static void
app_layer_end_hold(struct app_layer *app_layer, unsigned app, struct emitter *emitter, struct app_flow *c,
		   struct flow *flow, uint64_t time)
{
	const struct app_protocol *protocol = app_protocols[app];
	bool wants_name = flow != NULL && protocol->names && flow_table_wants_name(app_layer->flows, flow);
	struct app_report report = {
	    .app_layer = app_layer, .emitter = emitter, .protocol = protocol, .app = app, .flow = flow, .endpoint = 2};
	struct app_context ctx = {
	    .flow = flow,
	    .now = time,
	    .shared = app_layer->shared[app],
	    .traced = true,
	    .on_message = app_layer_on_message,
	    .on_anomaly = app_layer_on_anomaly,
	    .on_name = wants_name ? app_layer_on_name : NULL,
	    .context = &report,
	};

	if (flow != NULL) {
		ctx.cid = flow_cid(app_layer->flows, flow, 0);
		ctx.server_endpoint = app_layer_server_endpoint(app_layer, app, flow);
		report.endpoint = app_layer_reporting_endpoint(flow, ctx.server_endpoint);
	}
	emitter_begin_timer(emitter, time);
	app_flow_end_hold(app_layer->app_flows[app], c, report.endpoint <= 1 ? &ctx : NULL);
	emitter_end_timer(emitter);
	if (flow != NULL)
		app_layer_note_read(&report, flow);
}

/* Delivers what may be held up to `until` at most (flow/stream/stream.h). */
static void
app_layer_end_holds(struct app_layer *app_layer, unsigned app, struct emitter *emitter, uint64_t now, uint64_t until)
{
	const struct app_flow_table *table = app_layer->app_flows[app];
	const struct flow *held;
	struct app_flow *c;
	uint64_t cid;

	while ((c = app_flow_find_timeout(table, until, &held, &cid)) != NULL) {
		uint64_t held_until = app_flow_next_timeout(table);
		struct flow *flow = NULL;

		/* The memory of a flow that was removed may be free, or another connection's. */
		if (flow_cid(app_layer->flows, held, 0) == cid)
			flow = flow_table_lookup(app_layer->flows, &held->key, held->hash);
		app_layer_end_hold(app_layer, app, emitter, c, flow, held_until < now ? held_until : now);
	}
}

void
app_layer_read_kept(struct app_layer *app_layer, struct emitter *emitter, struct flow *flow, unsigned server, bool last,
		    uint64_t packet_id, uint64_t now)
{
	const struct tcp_endpoint *e = &flow->tcp[server];
	struct packet answer = {.transport = TRANSPORT_TCP,
				.tcp = {.flags = TCP_ACK, .seq = e->nxt, .ack = e->rcv_nxt}};
	struct app_segment segment = {.packet = &answer, .flow = flow, .sender = server, .packet_id = packet_id,
				      .now = now, .has_send_side = true, .last = last};

	segment.on_send_side = true;
	app_layer_observe(app_layer, emitter, &segment);
	segment.on_send_side = false;
	app_layer_observe(app_layer, emitter, &segment);
}

/* Reads what a client has sent to a server that has proved nothing. */
static void
app_layer_read_unproved(struct app_layer *app_layer, struct emitter *emitter, struct flow *flow, uint64_t now)
{
	if (first_bytes_find(app_layer->first_bytes, flow, flow_cid(app_layer->flows, flow, 0)) == NULL)
		return;
	emitter_begin_timer(emitter, now);
	app_layer_read_kept(app_layer, emitter, flow, 1 - app_layer_client(flow), true, 0, now);
	emitter_end_timer(emitter);
}

void
app_layer_end_connection(struct app_layer *app_layer, struct emitter *emitter, struct flow *flow, uint64_t now)
{
	struct app_flow *c;
	unsigned app;

	if (flow->kind != FLOW_TCP)
		return;
	if (flow->app == FLOW_APP_UNDECIDED)
		app_layer_read_unproved(app_layer, emitter, flow, now);
	if (flow->app == FLOW_APP_UNDECIDED || flow->app == FLOW_APP_NONE)
		return;
	app = flow->app - FLOW_APP_FIRST;
	c = app_flow_find_held(app_layer->app_flows[app], flow, flow_cid(app_layer->flows, flow, 0));
	if (c == NULL)
		return;
	if (app_flow_held_until(c) < now)
		now = app_flow_held_until(c);
	app_layer_end_hold(app_layer, app, emitter, c, flow, now);
}

/* Reads what is still kept, of open connections. */
static void
app_layer_end_first_bytes(struct app_layer *app_layer, struct emitter *emitter, uint64_t now)
{
	struct first_bytes *first;

	while ((first = first_bytes_oldest(app_layer->first_bytes)) != NULL) {
		struct flow *flow = NULL;
		uint64_t cid = first->cid;

		/* The memory of a flow that was removed may be free, or another connection's. */
		if (flow_cid(app_layer->flows, first->flow, 0) == cid)
			flow = flow_table_lookup(app_layer->flows, &first->flow->key, first->flow->hash);
		if (flow != NULL)
			app_layer_read_unproved(app_layer, emitter, flow, now);
		if (first_bytes_oldest(app_layer->first_bytes) == first && first->cid == cid)
			first_bytes_drop(app_layer->first_bytes, first);
	}
}

void
app_layer_end_input(struct app_layer *app_layer, struct emitter *emitter, uint64_t now)
{
	app_layer_end_first_bytes(app_layer, emitter, now);
	for (unsigned i = 0; i < APP_COUNT; i++)
		app_layer_end_holds(app_layer, i, emitter, now, UINT64_MAX - 1);
}

void
app_layer_count_left(const struct app_layer *app_layer)
{
	for (unsigned i = 0; i < APP_COUNT; i++)
		app_flow_table_end(app_layer->app_flows[i]);
}

void
app_layer_run_timers(struct app_layer *app_layer, struct emitter *emitter, uint64_t now)
{
	uint64_t due;

	while ((due = app_layer->next_timeout) <= now) {
		flow_table_run_timers(app_layer->flows, due);
		app_layer->next_timeout = UINT64_MAX;
		for (unsigned i = 0; i < APP_COUNT; i++) {
			app_layer_end_holds(app_layer, i, emitter, due, due);
			if (app_protocols[i]->reader->on_time != NULL)
				app_layer_run_provider_timers(app_layer, i, emitter, due);
			app_layer_update_timeout(app_layer, i);
		}
	}
}
