/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/app_layer.h"

#include <stdlib.h>

#include "apps/iscsi/iscsi_fire.h"
#include "apps/iscsi/iscsi_reader.h"

const struct app_row app_rows[] = {
    {"iscsi", offsetof(struct config, iscsi_ports), &iscsi_reader, wants_iscsi, fire_iscsi},
};

const size_t app_row_count = sizeof app_rows / sizeof app_rows[0];

static const struct port_list *
ports_of(const struct config *config, const struct app_row *row)
{
	return (const struct port_list *)(const void *)((const char *)config + row->ports);
}

struct apps *
apps_new(const struct config *config, uint64_t *anomalies)
{
	struct apps *apps = calloc(1, sizeof *apps);
	size_t largest = 0;

	if (apps == NULL)
		return NULL;
	apps->config = config;
	apps->anomalies = anomalies;
	for (size_t i = 0; i < app_row_count; i++) {
		const struct port_list *ports = ports_of(config, &app_rows[i]);

		if (app_rows[i].reader->state_size > largest)
			largest = app_rows[i].reader->state_size;
		for (unsigned p = 0; p < ports->count; p++)
			apps->hint |= 1ull << (ports->port[p] & 63);
	}
	apps->conversations = conversations_new(largest);
	if (apps->conversations == NULL) {
		apps_free(apps);
		return NULL;
	}
	return apps;
}

void
apps_free(struct apps *apps)
{
	if (apps == NULL)
		return;
	conversations_free(apps->conversations);
	free(apps);
}

/* --- which provider --- */

static bool
has_port(const struct port_list *ports, uint16_t port)
{
	for (unsigned i = 0; i < ports->count; i++)
		if (ports->port[i] == port)
			return true;
	return false;
}

/* The provider of this connection and the server's end; NULL if there is none. */
static const struct app_row *
row_of(const struct apps *apps, const struct flow *flow, unsigned *server)
{
	for (size_t i = 0; i < app_row_count; i++) {
		const struct port_list *ports = ports_of(apps->config, &app_rows[i]);
		bool serves[2] = {has_port(ports, flow->key.port[0]), has_port(ports, flow->key.port[1])};

		if (!serves[0] && !serves[1])
			continue;
		/* If both ends have such a port, the server is the end that did not open the connection. */
		if (serves[0] && serves[1])
			*server = (flow->tcp[0].flags & TCP_END_ACTIVE) != 0;
		else
			*server = serves[1];
		return &app_rows[i];
	}
	return NULL;
}

/* --- which point of view --- */

/* The end whose view is reported: the server if it is local, else the client; 2 if neither is local. */
static unsigned
viewer_of(const struct flow *flow, unsigned server)
{
	if ((flow->local >> server & 1) != 0)
		return server;
	return (flow->local >> (1 - server) & 1) != 0 ? 1 - server : 2;
}

struct telling {
	struct apps *apps;
	struct prober *prober;
	const struct app_row *row;
	const struct flow *flow;
	unsigned viewer;
};

static void
on_message(void *context, unsigned sender, const void *message)
{
	const struct telling *to = context;

	(void)sender;
	to->row->fire(to->prober, to->flow, to->viewer, message);
}

static void
on_odd(void *context, enum anomaly a)
{
	const struct telling *to = context;

	to->apps->anomalies[a]++;
}

void
apps_take(struct apps *apps, struct prober *prober, const struct app_segment *segment)
{
	struct telling to = {.apps = apps, .prober = prober, .flow = segment->flow};
	struct reading reading = {.message = on_message, .odd = on_odd, .context = &to};

	to.row = row_of(apps, segment->flow, &reading.server);
	if (to.row == NULL)
		return;
	to.viewer = viewer_of(segment->flow, reading.server);
	if (to.viewer > 1 || segment->sending != (segment->has_sides && to.viewer == segment->sender))
		return;
	reading.wanted = to.row->wanted();
	conversation_take(apps->conversations, segment->flows, segment->flow, segment->packet, segment->sender,
			  to.row->reader, &reading);
}
