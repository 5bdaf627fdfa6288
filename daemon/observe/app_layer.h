/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Application providers: protocols on byte streams whose messages have probes.  A row of app_rows describes one
 * provider: its ports, its stream reader (flow/), and the function that fires its probes (probes/).  CONTRIBUTING.md
 * explains how to add one.
 */
#ifndef NETOBS_DAEMON_OBSERVE_APP_LAYER_H
#define NETOBS_DAEMON_OBSERVE_APP_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config/config.h"
#include "dissect/packet.h"
#include "flow/stream/app_flow.h"

struct prober;

struct app_row {
	const char *name;	    /* prefix of its probe names, up to the first hyphen */
	size_t ports;		    /* offset of its struct port_list in struct config */
	const struct app_reader *reader;
	bool (*wanted)(void);	    /* whether any of its probes is enabled */
	void (*fire)(struct prober *prober, const struct flow *flow, unsigned end, const void *message);
};

extern const struct app_row app_rows[];
extern const size_t app_row_count;

struct apps {
	uint64_t hint; /* Bloom filter: bit n is set if a configured port is n modulo 64 */
	const struct config *config;
	struct conversations *conversations;
	uint64_t *anomalies; /* counters by enum anomaly, borrowed */
};

/* NULL if out of memory.  `config` and `anomalies` are borrowed. */
struct apps *apps_new(const struct config *config, uint64_t *anomalies);
void apps_free(struct apps *apps);

/* Whether an application provider may want this connection.  Every connection pays for this test, so it is cheap. */
static inline bool
apps_may_read(const struct apps *apps, const struct flow_key *key)
{
	return ((apps->hint >> (key->port[0] & 63) | apps->hint >> (key->port[1] & 63)) & 1) != 0;
}

/* A segment, and the point in the firing order at which it is processed. */
struct app_segment {
	const struct flow_table *flows;
	const struct flow *flow;
	const struct packet *packet;
	unsigned sender;
	bool sending;	/* at the probes of the sending side; otherwise at those of the receiving side */
	bool has_sides; /* this frame fires probes of a sending side */
};

/* Called at both points of the firing order; parses the segment at the point that belongs to the reported endpoint. */
void apps_take(struct apps *apps, struct prober *prober, const struct app_segment *segment);

#endif
