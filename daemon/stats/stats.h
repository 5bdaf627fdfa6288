/* SPDX-License-Identifier: BSD-2-Clause */
/* What a running netobsd can be asked about, by whoever asks: the control socket or the metrics. */
#ifndef NETOBS_DAEMON_STATS_STATS_H
#define NETOBS_DAEMON_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/capture/input.h"
#include "daemon/capture/workers.h"
#include "daemon/config/config.h"
#include "daemon/observe/observer.h"
#include "daemon/stats/build_id.h"
#include "flow/stream/app_flow.h"
#include "flow/stream/stream.h"
#include "probes/probe_ids.h"

/* All of it is borrowed. */
struct insight {
	const struct config *config;
	struct workers *workers;
	struct build_id build;
	int64_t started; /* seconds since the epoch */
	/* Reads the configuration again; false, with `why`, if that did not change anything. */
	bool (*reload)(void *context, char *why, size_t size);
	void *context;
};

/* Bytes reserved at the start for connections, the reassembly of fragments, and the owners of sockets. */
struct insight_memory {
	uint64_t flows;
	uint64_t fragments;
	uint64_t owners; /* 0 where they are not looked up */
};

struct insight_memory insight_memory(const struct config *config);

/* All of it. */
static inline uint64_t
insight_reserved(const struct insight_memory *memory)
{
	return memory->flows + memory->fragments + memory->owners;
}

/* Memory of this process that is in use now, bytes; 0 if unknown. */
uint64_t insight_resident(void);

/* What the workers have counted, all of them together. */
struct insight_totals {
	struct observe_counters seen;
	struct input_counters taken;
	struct flow_counters flows; /* but longest_probe, which is the longest */
	struct reassembly_counters fragments;
	struct conversation_counters conversations;
	struct stream_counters streams;
	uint64_t checksums[CHECKSUM_PARTIAL + 1]; /* by enum checksum_verdict */
	uint64_t fired[PROBE_COUNT];
};

/* Brings them up to date. */
void insight_totals(struct workers *workers, struct insight_totals *totals);

/* Calls `visit` for every interface, in the order of the configuration, with the counters of all workers. */
void insight_interfaces(struct workers *workers, input_visitor *visit, void *context);

/* What made a sender send again, "fast". */
const char *insight_retransmission(enum retransmit_kind kind);

/* Every counter of a run by its name, as --summary has them: a group that ends in a dot, or "", and a name.  Of
 * retransmissions, anomalies and firings only those that occurred. */
typedef void insight_visitor(void *context, const char *group, const char *name, uint64_t value);
void insight_counters(struct workers *workers, insight_visitor *visit, void *context);

#endif
