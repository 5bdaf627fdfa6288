/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of a running netobsd: for the summary, the service manager, the control socket and the metrics. */
#ifndef NETOBS_DAEMON_STATS_STATS_H
#define NETOBS_DAEMON_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/input.h"
#include "config/config.h"
#include "flight/ring.h"
#include "flow/flow.h"
#include "flow/record/flow_record.h"
#include "flow/stream/app_flow.h"
#include "flow/stream/stream.h"
#include "observe/batch_times.h"
#include "observe/observer.h"
#include "observe/workers.h"
#include "owner/owner_lookup.h"
#include "probes/feed/feed.h"
#include "probes/probe_ids.h"
#include "records/record_ring.h"

/* Bytes reserved at start for connections, their records, also those of ended ones, fragments, application providers,
 * socket owners, and the flight memory. */
struct stats_memory {
	uint64_t flows;
	uint64_t records; /* of open connections; 0 unless they are kept from the start */
	uint64_t closed;  /* records of connections that have ended */
	uint64_t fragments;
	uint64_t applications; /* connections that application providers read */
	uint64_t owner_lookup; /* 0 if owners are not looked up */
	uint64_t flight;       /* 0 without a flight memory, and with --write */
};

struct stats_memory stats_reserved_memory(const struct config *config);

/* The sum of all parts. */
static inline uint64_t
stats_memory_total(const struct stats_memory *memory)
{
	return memory->flows + memory->records + memory->closed + memory->fragments + memory->applications +
	       memory->owner_lookup + memory->flight;
}

/* Opens the file of stats_resident_memory(), since no file of /proc can be opened after the start. */
void stats_open_memory(void);

/* Resident memory of this process in bytes; 0 if unknown. */
uint64_t stats_resident_memory(void);

struct state_counts {
	uint64_t tcp[TCP_STATE_COUNT]; /* by the state of the local endpoint, else of the first sender */
	uint64_t sctp[SCTP_STATE_COUNT];
	uint64_t udp;
	uint64_t sctp_seen; /* not 0 once an association was counted */
};

/* Counts connections by state.  Counting a large table takes longer than capture may be blocked, so it runs in steps;
 * the last complete count is reported. */
struct state_counter {
	struct state_counts complete; /* the last complete count */
	struct state_counts partial;
	uint32_t position;
};

/* Continues counting for a bounded time; called periodically. */
void state_counter_step(struct state_counter *counter, const struct flow_table *table);

/* Counters summed over all workers; counters.h has a row for each. */
struct stats_totals {
	struct observe_counters observed; /* sums, except lag_us, which is the maximum */
	struct input_counters input;
	struct flow_counters flows;   /* sums, except longest_probe, which is the maximum */
	struct record_totals records; /* 0 unless records of connections are kept */
	struct reassembly_counters fragments;
	struct app_flow_counters app_flows;
	struct stream_counters streams;
	struct app_request_counters app_requests;
	struct owner_lookup_counters owners; /* sums, except unreadable, which is the maximum */
	uint64_t sctp_addr_table_full;
	uint64_t checksums[CHECKSUM_PARTIAL + 1]; /* by enum checksum_verdict */
	uint64_t fired[PROBE_COUNT];
	uint64_t print_dropped, log_dropped;
	struct batch_histograms batches, batches_of_minute; /* live; of the last minute */
	struct feed_counters feeds;
	struct record_ring_counters closed;
	struct ring_counters flight; /* sums, except the times: from `oldest` to `newest` the memory is complete */
	uint64_t flight_span_us;     /* the time between them */
	struct state_counts states;  /* 0 unless stats_add_states() adds them: they are counted for the metrics only */
};

/* Fills `*totals` with up-to-date sums. */
void stats_collect(struct workers *workers, struct stats_totals *totals);

/* Counters of one application provider. */
struct app_flow_counters stats_app_flows(const struct workers *workers, unsigned app);

/* Adds the connections by state; `counters` has one element per worker. */
void stats_add_states(const struct workers *workers, const struct state_counter *counters, struct stats_totals *totals);

/* Calls `visit` for every interface, in the order of the configuration, with counters summed over all workers. */
void stats_visit_interfaces(struct workers *workers, input_visitor *visit, void *context);

#endif
