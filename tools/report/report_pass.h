/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passes over the captures: their frames are observed in this process, with the privileges of a replay of netobsd,
 * and what fires is passed on.  Both passes see the same packets and connections, under the same ids.
 */
#ifndef NETOBS_REPORT_PASS_H
#define NETOBS_REPORT_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/input.h"
#include "config/config.h"
#include "dissect/packet.h"
#include "flow/flow.h"
#include "observe/observer.h"
#include "probes/firing.h"

struct report_passes;

/* A pass, and what it is passed to: functions that are NULL are not called. */
struct report_pass {
	const enum probe_id *probes; /* those whose firings are wanted */
	size_t probes_count;
	void *context;
	/* The next frame, before its firings. */
	void (*begin_frame)(void *context, const struct frame *frame);
	void (*fire)(void *context, struct firing *firing);
	/* A packet of a connection, after its firings; `time`: its time stamp. */
	void (*take_packet)(void *context, const struct flow *flow, unsigned sender, uint64_t time);
	/* Whether no firing of a TCP packet with these ports is wanted. */
	bool (*rejects_ports)(void *context, uint16_t sport, uint16_t dport);

	uint64_t frame; /* number of the frame in progress, from 1 on */
	const struct flow_table *flows;
};

/* What a pass has counted. */
struct report_pass_counters {
	struct observe_counters observed;
	struct input_counters input;
};

/* Opens the captures for two passes, and gives up what is not needed to read them.  The configuration is borrowed.
 * NULL, with a message logged, on failure. */
struct report_passes *report_passes_open(struct config *config);

/* Runs the first pass. */
enum input_result report_passes_first(struct report_passes *passes, struct report_pass *pass,
				      struct report_pass_counters *counters);

/* Runs the second pass, over the frames of the first one.  Nothing is logged that the first one has logged. */
enum input_result report_passes_second(struct report_passes *passes, struct report_pass *pass);

/* Indices of flows: see flow_table_index(). */
size_t report_passes_flows(const struct report_passes *passes);

/* NULL is allowed. */
void report_passes_free(struct report_passes *passes);

/* The number of the frame of a firing; 0 if no frame causes it. */
static inline uint64_t
report_pass_frame(const struct report_pass *pass, const struct firing *firing)
{
	return firing_is_of_packet(firing) ? pass->frame : 0;
}

/* The time of a firing as a time stamp, ns since the epoch. */
static inline uint64_t
report_pass_time(const struct report_pass *pass, const struct firing *firing)
{
	return flow_table_time_stamp(pass->flows, firing->ts);
}

/* Whether a packet changes nothing: a copy of one that was captured before, or one that its receiver drops. */
static inline bool
report_packet_is_void(const struct packet *packet)
{
	return anomaly_has(&packet->anomalies, ANOMALY_DUPLICATE) ||
	       anomaly_has(&packet->anomalies, ANOMALY_CHECKSUM_WRONG);
}

#endif
