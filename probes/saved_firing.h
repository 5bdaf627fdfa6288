/* SPDX-License-Identifier: BSD-2-Clause */
/* A firing with copies of its arguments, which outlive its packet and connection. */
#ifndef NETOBS_PROBES_SAVED_FIRING_H
#define NETOBS_PROBES_SAVED_FIRING_H

#include <stddef.h>

#include "probes/firing.h"

/* Bytes of the arguments of any probe, each on a boundary of 8 bytes. */
#define SAVED_ARGUMENTS_MAX 4096u

struct saved_firing {
	enum probe_id probe;
	uint8_t present; /* bit N: args[N] is not NULL */
	uint64_t ts, cid;
	struct emitter *emitter;
	const struct flow *flow;
	unsigned endpoint;
};

/* Bytes that the copies of a probe's arguments need, at most SAVED_ARGUMENTS_MAX. */
size_t saved_firing_size(enum probe_id probe);

/* Copies a firing; `arguments` has room for saved_firing_size() bytes and is aligned to 8. */
void saved_firing_set(struct saved_firing *saved, struct firing *firing, void *arguments);

/* Makes it a firing without packet at a later time, which is also the time of the event in its arguments (cs_ts,
 * ci_ts).  It belongs to its connection if that still exists.  The arguments are those copies. */
void saved_firing_get(const struct saved_firing *saved, void *arguments, uint64_t ts, struct firing *firing);

/* Sets pkt_seq, cs_seq, ci_seq and cr_seq in the copies. */
void saved_firing_set_sequence(const struct firing *firing, uint64_t sequence);

#endif
