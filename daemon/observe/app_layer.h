/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Application providers: protocols on a byte stream whose messages have probes.
 *
 * One row of app_rows says all there is to know about one: its ports, who reads its streams (flow/), and who fires its
 * probes (probes/).  CONTRIBUTING.md says how one is added.
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
	const char *name;	    /* that of its probes, before the first hyphen */
	size_t ports;		    /* offset of its struct port_list in struct config */
	const struct app_reader *reader;
	bool (*wanted)(void);	    /* whether one of its probes is enabled */
	void (*fire)(struct prober *prober, const struct flow *flow, unsigned end, const void *message);
};

extern const struct app_row app_rows[];
extern const size_t app_row_count;

struct apps {
	uint64_t hint; /* bit n: a port that is n modulo 64 is one of ours */
	const struct config *config;
	struct conversations *conversations;
	uint64_t *anomalies; /* counters by enum anomaly, borrowed */
};

/* NULL if memory cannot be had.  `config` and `anomalies` are borrowed. */
struct apps *apps_new(const struct config *config, uint64_t *anomalies);
void apps_free(struct apps *apps);

/* Whether an application provider may want this connection: what every other connection pays. */
static inline bool
apps_may_read(const struct apps *apps, const struct flow_key *key)
{
	return ((apps->hint >> (key->port[0] & 63) | apps->hint >> (key->port[1] & 63)) & 1) != 0;
}

/* A segment, and at which point of the order of firing this is. */
struct app_segment {
	const struct flow_table *flows;
	const struct flow *flow;
	const struct packet *packet;
	unsigned sender;
	bool sending;	/* among the probes of the sending side, not of the receiving one */
	bool has_sides; /* this frame has probes of a sending side at all */
};

/* Called once at each of the two points; reads the segment at that of the endpoint whose point of view is told. */
void apps_take(struct apps *apps, struct prober *prober, const struct app_segment *segment);

#endif
