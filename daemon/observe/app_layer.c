/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/app_layer.h"

#include <stdlib.h>

#include "flow/record/flow_record.h"
#include "probes/fire.h"

/* Bytes of a client within which a connection is recognised although its first bytes come late. */
#define APP_FIRST_BYTES_MAX 65536u

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
	for (unsigned i = 0; i < APP_COUNT; i++) {
		if (app_layer->streams == NULL || !app_layer_open_provider(app_layer, i, &settings)) {
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
	stream_pool_free(app_layer->streams);
	free(app_layer);
}

size_t
app_layer_memory_size(unsigned workers)
{
	const struct app_settings settings = {.workers = workers};
	size_t size = sizeof(struct app_layer) + stream_pool_memory_size();

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
		bool enabled = app_protocols[i]->probes_enabled();

		traced |= (uint32_t)enabled << i;
		active |= (uint32_t)app_layer_is_active(app_protocols[i], names, enabled) << i;
	}
	if (active == app_layer->active && traced == app_layer->traced)
		return;
	for (unsigned i = 0; i < APP_COUNT; i++)
		if (((active ^ app_layer->active) >> i & 1) != 0 || ((traced ^ app_layer->traced) >> i & 1) != 0)
			app_layer_forget(app_layer, i);
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
 * of no protocol, FLOW_APP_UNDECIDED if later ones came first. */
static unsigned
app_layer_recognise(const struct app_segment *segment)
{
	const struct tcp_endpoint *e = &segment->flow->tcp[segment->sender];
	uint32_t seq = segment->packet->tcp.seq + ((segment->packet->tcp.flags & TCP_SYN) != 0);

	if ((e->flags & TCP_EP_ISS_KNOWN) == 0 || (e->flags & TCP_EP_ACTIVE_OPEN) == 0)
		return FLOW_APP_NONE;
	if (seq != e->iss + 1)
		return e->bytes < APP_FIRST_BYTES_MAX ? FLOW_APP_UNDECIDED : FLOW_APP_NONE;
	for (unsigned i = 0; i < APP_COUNT; i++) {
		const struct app_reader *reader = app_protocols[i]->reader;

		if (reader->recognises != NULL &&
		    reader->recognises(cursor_captured_slice(&segment->packet->payload)))
			return FLOW_APP_FIRST + i;
	}
	return FLOW_APP_NONE;
}

/* Decides which provider reads the connection, with its first payload: first bytes that are recognised count more than
 * ports, because any protocol may be spoken on any port. */
static void
app_layer_decide(const struct app_layer *app_layer, const struct app_segment *segment)
{
	struct flow *flow = segment->flow;
	unsigned app = FLOW_APP_NONE, by_port;

	if (segment->packet->payload_wire == 0)
		return;
	if (flow->kind == FLOW_TCP && !app_layer->config->ports_only)
		app = app_layer_recognise(segment);
	if (app == FLOW_APP_NONE || app == FLOW_APP_UNDECIDED) {
		by_port = app_layer_find_by_port(app_layer, flow);
		app = by_port != FLOW_APP_NONE ? by_port : app;
	}
	flow->app = (uint8_t)(app & 31u);
}

/* The endpoint with a port of the provider.  If both have one, or neither, the end that did not open the connection. */
static unsigned
app_layer_server_endpoint(const struct app_layer *app_layer, unsigned app, const struct flow *flow)
{
	unsigned serving = app_layer_serving_endpoints(app_layer, app, &flow->key);

	if (serving == 1 || serving == 2)
		return serving - 1;
	if (flow->kind == FLOW_TCP)
		return (flow->tcp[0].flags & TCP_EP_ACTIVE_OPEN) != 0;
	return !flow->first_sender;
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
};

static void
app_layer_on_message(void *context, unsigned sender, const void *message)
{
	const struct app_report *report = context;

	(void)sender;
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
	    .traced = wants_name || report->protocol->probes_enabled(),
	    .on_message = app_layer_on_message,
	    .on_anomaly = app_layer_on_anomaly,
	    .on_name = wants_name ? app_layer_on_name : NULL,
	    .context = report,
	};

	if (!ctx.traced && report->protocol->reader->needs_bytes == NULL)
		return false;
	if (segment->flow->kind == FLOW_TCP) {
		if (app_flow_feed(app_layer->app_flows[report->app], app_layer->flows, segment->packet, segment->sender,
				  &ctx))
			return true;
		segment->flow->app = FLOW_APP_NONE;
		return false;
	}
	app_flow_feed_datagram(report->protocol->reader, segment->packet, segment->sender, &ctx);
	return true;
}

static void
app_layer_update_timeout(struct app_layer *app_layer, unsigned app)
{
	uint64_t next;

	if (app_layer->shared[app] == NULL)
		return;
	next = app_protocols[app]->reader->next_timeout(app_layer->shared[app]);
	if (next < app_layer->next_timeout)
		app_layer->next_timeout = next;
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

void
app_layer_run_timers(struct app_layer *app_layer, struct emitter *emitter, uint64_t now)
{
	app_layer->next_timeout = UINT64_MAX;
	for (unsigned i = 0; i < APP_COUNT; i++) {
		if (app_layer->shared[i] == NULL)
			continue;
		app_layer_run_provider_timers(app_layer, i, emitter, now);
		app_layer_update_timeout(app_layer, i);
	}
}
