/* SPDX-License-Identifier: BSD-2-Clause */
/* Application providers at work: finds the protocol of a connection by its ports, feeds its streams to the app
 * reader, and fires its probes for the endpoint that is reported (apps/app.h has the providers). */
#ifndef NETOBS_DAEMON_OBSERVE_APP_LAYER_H
#define NETOBS_DAEMON_OBSERVE_APP_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/app.h"
#include "daemon/config/config.h"
#include "dissect/packet.h"

struct emitter;

struct app_layer {
	uint64_t port_filter; /* Bloom filter: bit n is set if a configured port is n modulo 64 */
	const struct config *config;
	struct app_flow_table *app_flows;
	uint64_t *anomalies; /* counters by enum anomaly, borrowed */
};

/* NULL if out of memory.  `config` and `anomalies` are borrowed; `seed` makes hashes unpredictable. */
struct app_layer *app_layer_new(const struct config *config, uint64_t seed, uint64_t *anomalies);
void app_layer_free(struct app_layer *app_layer);

/* Whether an application provider may read this connection.  Every connection pays for this test, so it is cheap. */
static inline bool
app_layer_may_match(const struct app_layer *app_layer, const struct flow_key *key)
{
	return ((app_layer->port_filter >> (key->port[0] & 63) | app_layer->port_filter >> (key->port[1] & 63)) & 1) !=
	       0;
}

/* A segment, and the point in the firing order at which it is processed. */
struct app_segment {
	const struct flow_table *flows;
	const struct flow *flow;
	const struct packet *packet;
	unsigned sender;
	bool on_send_side;  /* at the probes of the sending side; otherwise at those of the receiving side */
	bool has_send_side; /* this frame fires probes of a sending side */
};

/* Called at both points of the firing order; parses the segment at the point that belongs to the reported endpoint. */
void app_layer_observe_segment(struct app_layer *app_layer, struct emitter *emitter, const struct app_segment *segment);

#endif
