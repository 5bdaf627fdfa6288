/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/stats.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "flow/record/flow_record.h"
#include "flow/sctp/sctp.h"
#include "observe/app_layer.h"
#include "owner/owner_lookup.h"
#include "probes/fire.h"
#include "probes/print/print.h"

struct stats_memory
stats_reserved_memory(const struct config *config)
{
	struct reassembly_limits fragment_limits = reassembly_limits_default();
	unsigned workers = workers_count_for(config);
	struct owner_lookup_limits owners = owner_lookup_limits_for(workers);
	bool looked_up = config->lookup_owners && config->interface_names[0] != NULL;
	uint32_t flow_limit = observer_flow_limit(config, workers);
	struct ring_limits ring = workers_ring_limits(config, workers);
	bool kept = config->flight_memory != 0 && config->writes[0] == NULL; /* as worker_make_ring() */

	return (struct stats_memory){
	    .flows = workers * flow_table_memory_size(flow_limit),
	    .records = config_keeps_records(config)
			   ? workers * (flow_table_records_size(flow_limit) + flow_table_names_size(flow_limit) +
					flow_table_rare_size(flow_limit))
			   : 0,
	    .closed = record_ring_memory_size(config->closed_connections),
	    .fragments = workers * reassembly_memory_size(&fragment_limits),
	    .applications = workers * app_layer_memory_size(workers),
	    .owner_lookup = looked_up ? workers * owner_lookup_memory(&owners) : 0,
	    .flight = kept ? workers * ring_memory_size(&ring) : 0,
	};
}

static int memory_file = -1; /* /proc/self/statm */

void
stats_open_memory(void)
{
	memory_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

uint64_t
stats_resident_memory(void)
{
	char text[128];
	unsigned long size, resident = 0;
	ssize_t length = pread(memory_file, text, sizeof text - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	if (sscanf(text, "%lu %lu", &size, &resident) != 2)
		return 0;
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ----------------------------------------------------------------------------------------------------------- totals */

/* Adds a struct that consists of counters only. */
static void
stats_add_counters(void *totals, const void *counters, size_t size)
{
	uint64_t *to = totals;
	const uint64_t *from = counters;

	for (size_t i = 0; i < size / sizeof *to; i++)
		to[i] += from[i];
}

#define STATS_ADD(totals, counters) \
	do { \
		_Static_assert(sizeof *(totals) == sizeof *(counters) && sizeof *(totals) % sizeof(uint64_t) == 0, \
			       "two structs of counters, of the same kind"); \
		stats_add_counters((totals), (counters), sizeof *(totals)); \
	} while (0)

/* Every socket reports the frames that the interface itself dropped, so they are added for one worker only. */
static void
stats_add_input(struct input_counters *totals, const struct worker *worker)
{
	struct input_counters counters = *input_counters(worker->input);

	if (worker->index > 0)
		counters.interface_dropped = 0;
	STATS_ADD(totals, &counters);
}

/* Undoes an addition to a field that is a maximum: `before` is its value before the addition. */
static void
stats_keep_maximum(uint64_t *field, uint64_t before)
{
	*field -= before;
	if (before > *field)
		*field = before;
}

/* A ring that has overwritten frames is complete from its oldest frame on, another one from the beginning. */
static void
stats_add_flight(struct stats_totals *totals, const struct ring *ring)
{
	struct ring_counters counters = ring_counters(ring), *sum = &totals->flight;
	uint64_t oldest = sum->oldest, newest = sum->newest;
	bool complete = sum->overwritten == 0;

	STATS_ADD(sum, &counters);
	sum->oldest = oldest;
	sum->newest = newest > counters.newest ? newest : counters.newest;
	if (counters.frames_now == 0)
		return;
	if (oldest == 0 || (counters.overwritten != 0 && (complete || counters.oldest > oldest)) ||
	    (counters.overwritten == 0 && complete && counters.oldest < oldest))
		sum->oldest = counters.oldest;
	totals->flight_span_us = sum->newest > sum->oldest ? (sum->newest - sum->oldest) / 1000 : 0;
}

static void
stats_add_provider(struct stats_totals *totals, const struct app_layer *app_layer, unsigned app)
{
	const struct app_reader *reader = app_protocols[app]->reader;

	STATS_ADD(&totals->app_flows, app_flow_table_counters(app_layer->app_flows[app]));
	if (reader->request_counters != NULL)
		STATS_ADD(&totals->app_requests, reader->request_counters(app_layer->shared[app]));
}

static void
stats_add_worker(struct stats_totals *totals, const struct worker *worker)
{
	const struct observer *observer = worker->observer;
	const struct app_layer *app_layer = observer_app_layer(observer);
	const struct emitter *emitter = observer_emitter(observer);
	struct owner_lookup_counters owners = owner_lookup_get_counters(worker->owner_lookup);
	uint64_t longest = totals->flows.longest_probe, unreadable = totals->owners.unreadable;
	uint64_t lag_us = totals->observed.lag_us;

	stats_add_input(&totals->input, worker);
	STATS_ADD(&totals->observed, observer_counters(observer));
	stats_keep_maximum(&totals->observed.lag_us, lag_us);
	STATS_ADD(&totals->flows, flow_table_counters(observer_flows(observer)));
	stats_keep_maximum(&totals->flows.longest_probe, longest);
	STATS_ADD(&totals->records, flow_table_record_totals(observer_flows(observer)));
	STATS_ADD(&totals->fragments, observer_reassembly_counters(observer));
	for (unsigned i = 0; i < APP_COUNT; i++)
		stats_add_provider(totals, app_layer, i);
	STATS_ADD(&totals->streams, stream_pool_counters(app_layer->streams));
	STATS_ADD(&totals->owners, &owners);
	stats_keep_maximum(&totals->owners.unreadable, unreadable);
	if (worker->ring != NULL)
		stats_add_flight(totals, worker->ring);
	totals->sctp_addr_table_full += sctp_counters(observer_flows(observer))->addr_table_full;
	for (unsigned i = 0; i <= CHECKSUM_PARTIAL; i++)
		totals->checksums[i] += emitter_checksum_verdicts(emitter, (enum checksum_verdict)i);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		totals->fired[i] += emitter_firings(emitter, (enum probe_id)i);
	batch_histograms_merge(&totals->batches, &observer_batch_times(observer)->all);
	batch_times_add_minute(observer_batch_times(observer), clock_monotonic_ns(), &totals->batches_of_minute);
	totals->print_dropped += worker->printer != NULL ? printer_dropped(worker->printer) : 0;
}

void
stats_collect(struct workers *workers, struct stats_totals *totals)
{
	*totals = (struct stats_totals){0};
	for (unsigned i = 0; i < workers->count; i++) {
		const struct worker *worker = &workers->worker[i];

		fair_lock_acquire(worker->lock);
		stats_add_worker(totals, worker);
		fair_lock_release(worker->lock);
	}
	totals->log_dropped = log_dropped();
	if (workers->feeds != NULL)
		totals->feeds = feed_set_counters(workers->feeds);
	if (workers->closed != NULL)
		totals->closed = record_ring_counters(workers->closed);
}

struct app_flow_counters
stats_app_flows(const struct workers *workers, unsigned app)
{
	struct app_flow_counters totals = {0};

	for (unsigned i = 0; i < workers->count; i++) {
		const struct worker *worker = &workers->worker[i];

		fair_lock_acquire(worker->lock);
		STATS_ADD(&totals, app_flow_table_counters(observer_app_layer(worker->observer)->app_flows[app]));
		fair_lock_release(worker->lock);
	}
	return totals;
}

void
stats_add_states(const struct workers *workers, const struct state_counter *counters, struct stats_totals *totals)
{
	for (unsigned i = 0; i < workers->count; i++)
		STATS_ADD(&totals->states, &counters[i].complete);
}

/* Sums per interface.  Every worker has the same interfaces in the same order. */
struct interface_totals {
	const struct worker *worker;
	struct input_interface *each, *next;
};

static void
stats_add_interface(void *context, const struct input_interface *interface)
{
	struct interface_totals *totals = context;
	struct input_interface *all = totals->next++;

	if (totals->worker->index == 0) {
		*all = *interface;
		return;
	}
	all->received += interface->received;
	all->dropped += interface->dropped;
}

/* Names are those of the first worker, which runs in the calling thread. */
void
stats_visit_interfaces(struct workers *workers, input_visitor *visit, void *context)
{
	size_t count = 0;
	struct interface_totals totals = {0};

	while (workers->config->interface_names[count] != NULL)
		count++;
	totals.each = calloc(count > 0 ? count : 1, sizeof *totals.each);
	if (totals.each == NULL) {
		log_warning("out of memory");
		return;
	}
	for (unsigned i = 0; i < workers->count; i++) {
		totals.worker = &workers->worker[i];
		totals.next = totals.each;
		fair_lock_acquire(totals.worker->lock);
		input_visit_interfaces(totals.worker->input, stats_add_interface, &totals);
		fair_lock_release(totals.worker->lock);
	}
	for (const struct input_interface *each = totals.each; each < totals.next; each++)
		visit(context, each);
	free(totals.each);
}

/* ----------------------------------------------------------------------------------------------------------- states */

/* Connections counted per call: about a millisecond of work. */
#define FLOWS_PER_STEP 16384u

/* The endpoint that is counted: the local one, else the one that sent the first packet. */
static unsigned
state_counted_endpoint(const struct flow *flow)
{
	unsigned local = flow->local & 3u;

	if (local == 1 || local == 2)
		return local - 1;
	return flow->first_sender;
}

static void
state_counts_add(struct state_counts *counts, const struct flow *flow)
{
	unsigned endpoint = state_counted_endpoint(flow);

	if (flow->kind == FLOW_UDP) {
		counts->udp++;
	} else if (flow->kind == FLOW_TCP) {
		counts->tcp[flow->tcp[endpoint].state]++;
	} else {
		counts->sctp[flow->sctp[endpoint].state]++;
		counts->sctp_seen = 1;
	}
}

void
state_counter_step(struct state_counter *counter, const struct flow_table *table)
{
	const struct flow *flow;

	for (unsigned i = 0; i < FLOWS_PER_STEP; i++) {
		if (!flow_table_next(table, &counter->position, &flow)) {
			counter->complete = counter->partial;
			counter->partial = (struct state_counts){.sctp_seen = counter->complete.sctp_seen};
			counter->position = 0;
			return;
		}
		if (flow != NULL)
			state_counts_add(&counter->partial, flow);
	}
}
