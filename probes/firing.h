/* SPDX-License-Identifier: BSD-2-Clause */
/* One firing of a probe, whose arguments are built when they are first read. */
#ifndef NETOBS_PROBES_FIRING_H
#define NETOBS_PROBES_FIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/probe_ids.h"

struct emitter;
struct flow;
struct packet;

struct firing;

/* Builds one argument; NULL if it is absent, or a reserved position. */
typedef const void *firing_builder(struct firing *firing, unsigned position);

struct firing {
	enum probe_id probe;
	unsigned built;		     /* bit N: args[N] is valid */
	const void *args[6];	     /* NULL: absent, or a reserved position */
	uint64_t ts;		     /* packet time, ns */
	const struct packet *packet; /* NULL: a timer */
	struct emitter *emitter;     /* fired it */
	firing_builder *build;	     /* builds the missing arguments; NULL if all are built */
	const void *detail;	     /* a further source of arguments, as `build` needs it */
	const struct flow *flow;     /* NULL: no connection */
	unsigned endpoint;	     /* of `flow`: the reported one */
};

/* Builds all missing arguments, NULL for those that the probe does not have, and sets pkt_seq, cs_seq, ci_seq and
 * cr_seq in them to `sequence`. */
void firing_complete(struct firing *firing, uint64_t sequence);

/* The connection id of the reported endpoint (cs_cid, ci_cid, cr_client_cid), 0 without a connection.  Builds no
 * argument. */
uint64_t firing_cid(const struct firing *firing);

/* Whether the packet in progress causes the firing, even if it is not an argument: not a timer or an eviction. */
bool firing_is_of_packet(const struct firing *firing);

/* args[position], NULL if it is absent; position is less than the probe's arg_count. */
static inline const void *
firing_argument(struct firing *firing, unsigned position)
{
	if ((firing->built >> position & 1) == 0) {
		firing->args[position] = firing->build(firing, position);
		firing->built |= 1u << position;
	}
	return firing->args[position];
}

#endif
