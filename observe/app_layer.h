/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Application providers at work: finds the protocol of a connection, feeds its streams and datagrams to the reader, and
 * fires its probes for the endpoint that is reported (apps/app.h has the providers).
 *
 * A provider is active while one of its probes is enabled, while names of connections are needed, or always if its
 * reader needs bytes before a tracer attaches.  Connections that an active provider may read take the slow path
 * (flow.slow).
 */
#ifndef NETOBS_OBSERVE_APP_LAYER_H
#define NETOBS_OBSERVE_APP_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/app.h"
#include "config/config.h"
#include "dissect/layers.h"
#include "dissect/packet.h"
#include "flow/flow.h"

struct emitter;

struct app_layer {
	uint64_t port_filter; /* Bloom filter: bit n is set if a port of an active provider is n modulo 64 */
	bool recognising;     /* an active provider is recognised by first bytes: any connection may be its */
	uint32_t active;      /* bit n: provider n is active */
	uint32_t traced;      /* bit n: one of its probes is enabled */
	const struct config *config;
	struct stream_pool *streams; /* out-of-order segments of all app flows */
	struct first_bytes_pool *first_bytes; /* first segments of connections */
	struct app_flow_table *app_flows[APP_COUNT];
	void *shared[APP_COUNT];  /* results of app_reader.open() */
	uint64_t next_timeout;    /* of all providers, packet time in ns; UINT64_MAX none */
	uint64_t *anomalies; /* counters by enum anomaly, borrowed */
	struct flow_table *flows; /* borrowed */
};

/* That of one of `workers`.  NULL if out of memory.  `config`, `flows` and `anomalies` are borrowed; `seed` makes
 * hashes unpredictable. */
struct app_layer *app_layer_new(const struct config *config, struct flow_table *flows, uint64_t seed,
				unsigned workers, uint64_t *anomalies);
void app_layer_free(struct app_layer *app_layer);

/* Bytes of address space that it reserves: the most memory that it takes. */
size_t app_layer_memory_size(unsigned workers);

/* Determines the active providers; if they have changed, visits all flows.  `names`: connections need names. */
void app_layer_select(struct app_layer *app_layer, bool names);

/* Whether an active provider may read this connection.  Every packet that misses the fast path pays for this test,
 * so it is cheap. */
static inline bool
app_layer_may_match(const struct app_layer *app_layer, const struct flow_key *key)
{
	return (app_layer->recognising && key->protocol == PROTOCOL_TCP) ||
	       ((app_layer->port_filter >> (key->port[0] & 63) | app_layer->port_filter >> (key->port[1] & 63)) & 1) !=
		   0;
}

/* Fires the timeouts of requests up to `now`, packet time in ns, and runs the timers of flows that are due before them:
 * time may have jumped. */
void app_layer_run_timers(struct app_layer *app_layer, struct emitter *emitter, uint64_t now);

/* The input has ended at `now`, packet time in ns: what is held for later frames is delivered, and what clients have
 * sent that no server has acknowledged. */
void app_layer_end_input(struct app_layer *app_layer, struct emitter *emitter, uint64_t now);

/* Delivers what is held of a connection that has ended, or whose flow is removed, at packet time `now`, and what its
 * client has sent to a server that never proved to have it.  To be called before the end is reported. */
void app_layer_end_connection(struct app_layer *app_layer, struct emitter *emitter, struct flow *flow, uint64_t now);

/* Reads what is kept of a connection, because endpoint `server` has accepted it; or, with `last`, because nothing will
 * show whether it has.  `packet_id` is that of the packet in progress, 0 if there is none. */
void app_layer_read_kept(struct app_layer *app_layer, struct emitter *emitter, struct flow *flow, unsigned server,
			 bool last, uint64_t packet_id, uint64_t now);

/* No input follows: counts what was not delivered. */
void app_layer_count_left(const struct app_layer *app_layer);

/* A segment or datagram, and the point in the firing order at which it is processed. */
struct app_segment {
	const struct packet *packet;
	struct flow *flow;
	unsigned sender;
	uint64_t packet_id; /* see emitter_set_packet() */
	uint64_t now;	    /* packet time, ns since the epoch */
	bool on_send_side;  /* at the probes of the sending side; otherwise at those of the receiving side */
	bool has_send_side; /* this frame fires probes of a sending side */
	bool last;	    /* no packet of the connection follows that could prove that its server has it */
};

/* Called at both points of the firing order; reads the segment or datagram at the point that belongs to the reported
 * endpoint, and sets flow.app and flow.slow. */
void app_layer_observe(struct app_layer *app_layer, struct emitter *emitter, const struct app_segment *segment);

#endif
