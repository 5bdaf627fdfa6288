/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of a running netobsd, used by the control socket and by the metrics. */
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

/* All pointers are borrowed. */
struct query_context {
	const struct config *config;
	struct workers *workers;
	struct build_id build;
	int64_t started; /* seconds since the epoch */
	/* Reloads the configuration.  False, with `why`, if nothing was changed. */
	bool (*reload)(void *context, char *why, size_t size);
	void *context;
};

/* Bytes reserved at start for connections, for fragments, and for socket owners. */
struct stats_memory {
	uint64_t flows;
	uint64_t fragments;
	uint64_t owner_lookup; /* 0 if owners are not looked up */
};

struct stats_memory stats_reserved_memory(const struct config *config);

/* Total of all of it. */
static inline uint64_t
stats_memory_total(const struct stats_memory *memory)
{
	return memory->flows + memory->fragments + memory->owner_lookup;
}

/* Resident memory of this process in bytes; 0 if unknown. */
uint64_t stats_resident_memory(void);

/* Counters summed over all workers. */
struct stats_totals {
	struct observe_counters observed;
	struct input_counters input;
	struct flow_counters flows; /* sums, except longest_probe, which is the maximum */
	struct reassembly_counters fragments;
	struct app_flow_counters app_flows;
	struct stream_counters streams;
	uint64_t checksums[CHECKSUM_PARTIAL + 1]; /* by enum checksum_verdict */
	uint64_t fired[PROBE_COUNT];
};

/* Fills `*totals` with up-to-date sums. */
void stats_collect(struct workers *workers, struct stats_totals *totals);

/* Calls `visit` for every interface, in the order of the configuration, with counters summed over all workers. */
void stats_visit_interfaces(struct workers *workers, input_visitor *visit, void *context);

/* Word of a kind of retransmission, such as "fast". */
const char *retransmit_kind_name(enum tcp_retransmit_kind kind);

/* Receives every counter of a run as --summary prints it: a group ("", or a name with a trailing dot) and a name.
 * Retransmissions, anomalies and firings are included only if they occurred. */
typedef void stats_visitor(void *context, const char *group, const char *name, uint64_t value);
void stats_visit_counters(struct workers *workers, stats_visitor *visit, void *context);

#endif
