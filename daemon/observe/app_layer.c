/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/app_layer.h"

#include <stdlib.h>

struct app_layer *
app_layer_new(const struct config *config, uint64_t seed, uint64_t *anomalies)
{
	struct app_layer *app_layer = calloc(1, sizeof *app_layer);
	size_t largest = 0;

	if (app_layer == NULL)
		return NULL;
	app_layer->config = config;
	app_layer->anomalies = anomalies;
	for (unsigned i = 0; i < APP_COUNT; i++) {
		const struct app_ports *ports = &config->app_ports[i];

		if (app_protocols[i]->reader->state_size > largest)
			largest = app_protocols[i]->reader->state_size;
		for (unsigned p = 0; p < ports->count; p++)
			app_layer->port_filter |= 1ull << (ports->port[p] & 63);
	}
	app_layer->app_flows = app_flow_table_new(largest, seed);
	if (app_layer->app_flows == NULL) {
		app_layer_free(app_layer);
		return NULL;
	}
	return app_layer;
}

void
app_layer_free(struct app_layer *app_layer)
{
	if (app_layer == NULL)
		return;
	app_flow_table_free(app_layer->app_flows);
	free(app_layer);
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

/* The provider of this connection, and in `*server` the endpoint of the server; NULL if there is none. */
static const struct app_protocol *
app_layer_find_protocol(const struct app_layer *app_layer, const struct flow *flow, unsigned *server)
{
	for (unsigned i = 0; i < APP_COUNT; i++) {
		const struct app_ports *ports = &app_layer->config->app_ports[i];
		bool serves[2] = {port_list_contains(ports, flow->key.port[0]),
				  port_list_contains(ports, flow->key.port[1])};

		if (!serves[0] && !serves[1])
			continue;
		/* If both ends have such a port, the server is the end that did not open the connection. */
		if (serves[0] && serves[1])
			*server = (flow->tcp[0].flags & TCP_EP_ACTIVE_OPEN) != 0;
		else
			*server = serves[1];
		return app_protocols[i];
	}
	return NULL;
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

void
app_layer_observe_segment(struct app_layer *app_layer, struct emitter *emitter, const struct app_segment *segment)
{
	struct app_report report = {.app_layer = app_layer, .emitter = emitter, .flow = segment->flow};
	struct app_context ctx = {
	    .on_message = app_layer_on_message, .on_anomaly = app_layer_on_anomaly, .context = &report};

	report.protocol = app_layer_find_protocol(app_layer, segment->flow, &ctx.server_endpoint);
	if (report.protocol == NULL)
		return;
	report.endpoint = app_layer_reporting_endpoint(segment->flow, ctx.server_endpoint);
	if (report.endpoint > 1 ||
	    segment->on_send_side != (segment->has_send_side && report.endpoint == segment->sender))
		return;
	ctx.traced = report.protocol->probes_enabled();
	app_flow_feed(app_layer->app_flows, segment->flows, segment->flow, segment->packet, segment->sender,
		      report.protocol->reader, &ctx);
}
