/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/owner/owner_lookup.h"
#include "probes/fire.h"
#include "probes/manifest.h"

struct stats_memory
stats_reserved_memory(const struct config *config)
{
	struct reassembly_limits pieces = reassembly_limits_default();
	unsigned workers = workers_count_for(config);
	struct owner_lookup_limits owners = owner_lookup_limits_for(workers);
	bool looked_up = config->lookup_owners && config->interface_names[0] != NULL;

	return (struct stats_memory){
	    .flows = workers * flow_table_memory_size(observer_flow_limit(config, workers)),
	    .fragments = workers * reassembly_memory_size(&pieces),
	    .owner_lookup = looked_up ? workers * owner_lookup_memory(&owners) : 0,
	};
}

uint64_t
stats_resident_memory(void)
{
	unsigned long whole, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL)
		return 0;
	if (fscanf(file, "%lu %lu", &whole, &resident) != 2)
		resident = 0;
	fclose(file);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

const char *
retransmit_kind_name(enum tcp_retransmit_kind kind)
{
	static const char *const words[RETRANSMIT_SYN + 1] = {
	    [RETRANSMIT_NONE] = "none",		[RETRANSMIT_FAST] = "fast",
	    [RETRANSMIT_TIMEOUT] = "timeout",	[RETRANSMIT_TAIL_LOSS_PROBE] = "tail-loss-probe",
	    [RETRANSMIT_SPURIOUS] = "spurious", [RETRANSMIT_SYN] = "syn",
	};

	return words[kind];
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

#define STATS_ADD(totals, counters)                                                                                    \
	do {                                                                                                           \
		_Static_assert(sizeof *(totals) == sizeof *(counters) && sizeof *(totals) % sizeof(uint64_t) == 0,     \
			       "nothing but counters, of one kind");                                                   \
		stats_add_counters((totals), (counters), sizeof *(totals));                                            \
	} while (0)

/* Every socket reports the interface's own losses, so they are added for one worker only. */
static void
stats_add_input(struct input_counters *totals, const struct worker *worker)
{
	struct input_counters counters = *input_counters(worker->input);

	if (worker->index > 0)
		counters.interface_dropped = 0;
	STATS_ADD(totals, &counters);
}

static void
stats_add_worker(struct stats_totals *totals, const struct worker *worker)
{
	const struct observer *observer = worker->observer;
	const struct app_flow_table *app_flows = observer_app_flows(observer);
	const struct emitter *emitter = observer_emitter(observer);
	uint64_t longest = totals->flows.longest_probe;

	stats_add_input(&totals->input, worker);
	STATS_ADD(&totals->observed, observer_counters(observer));
	STATS_ADD(&totals->flows, flow_table_counters(observer_flows(observer)));
	totals->flows.longest_probe -= longest;
	if (longest > totals->flows.longest_probe)
		totals->flows.longest_probe = longest;
	STATS_ADD(&totals->fragments, observer_reassembly_counters(observer));
	STATS_ADD(&totals->app_flows, app_flow_table_counters(app_flows));
	STATS_ADD(&totals->streams, app_flow_table_stream_counters(app_flows));
	for (unsigned i = 0; i <= CHECKSUM_PARTIAL; i++)
		totals->checksums[i] += emitter_checksum_verdicts(emitter, (enum checksum_verdict)i);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		totals->fired[i] += emitter_firings(emitter, (enum probe_id)i);
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

/* --------------------------------------------------------------------------------------------------------- visitors */

static void
stats_visit_input(const struct input_counters *c, stats_visitor *visit, void *context)
{
	visit(context, "capture.", "received", c->received);
	visit(context, "capture.", "dropped", c->dropped);
	visit(context, "capture.", "interface-dropped", c->interface_dropped);
	visit(context, "capture.", "filtered", c->filtered);
	visit(context, "capture.", "damaged", c->damaged);
}

static void
stats_visit_observed(const struct observe_counters *c, stats_visitor *visit, void *context)
{
	visit(context, "", "frames", c->frames);
	visit(context, "", "bytes", c->bytes);
	visit(context, "", "packets", c->packets);
	visit(context, "", "truncated", c->truncated);
	visit(context, "", "loopback-copies", c->loopback_duplicates);
	visit(context, "", "interface-copies", c->lower_duplicates);
	visit(context, "", "backwards", c->backward_frames);
	for (unsigned i = RETRANSMIT_NONE + 1; i <= RETRANSMIT_SYN; i++)
		if (c->retransmissions[i] > 0)
			visit(context, "retransmission.", retransmit_kind_name((enum tcp_retransmit_kind)i),
			      c->retransmissions[i]);
	for (unsigned i = ANOMALY_NONE + 1; i < ANOMALY_COUNT; i++)
		if (c->anomalies[i] > 0)
			visit(context, "anomaly.", anomaly_name((enum anomaly)i), c->anomalies[i]);
}

static void
stats_visit_flows(const struct flow_counters *c, stats_visitor *visit, void *context)
{
	visit(context, "flow.", "now", c->flows);
	visit(context, "flow.", "created", c->created);
	visit(context, "flow.", "expired", c->expired);
	visit(context, "flow.", "reused", c->reused);
	visit(context, "flow.", "midstream", c->midstream);
	visit(context, "flow.", "evicted-half-open", c->evicted_half_open);
	visit(context, "flow.", "evicted-closing", c->evicted_closing);
	visit(context, "flow.", "evicted-udp", c->evicted_udp);
	visit(context, "flow.", "evicted-idle", c->evicted_idle);
	visit(context, "flow.", "evicted-oldest", c->evicted_oldest);
	visit(context, "flow.", "evicted-crowded", c->evicted_crowded);
}

/* Only if some application provider has had a connection. */
static void
stats_visit_app_flows(const struct stats_totals *totals, stats_visitor *visit, void *context)
{
	const struct app_flow_counters *c = &totals->app_flows;
	const struct stream_counters *s = &totals->streams;

	if (c->begun == 0)
		return;
	visit(context, "conversation.", "now", c->active);
	visit(context, "conversation.", "begun", c->begun);
	visit(context, "conversation.", "midstream", c->midstream);
	visit(context, "conversation.", "evicted", c->evicted);
	visit(context, "stream.", "bytes", s->bytes);
	visit(context, "stream.", "gaps", s->gaps);
	visit(context, "stream.", "missing-bytes", s->missing);
	visit(context, "stream.", "early-segments", s->out_of_order);
	visit(context, "stream.", "repeated-bytes", s->repeated);
	visit(context, "stream.", "incomparable-bytes", s->uncompared);
	visit(context, "stream.", "differing-segments", s->differing);
	visit(context, "stream.", "crowded-gaps", s->limit_gaps);
	visit(context, "stream.", "robbed", s->evicted_queues);
}

static void
stats_visit_probes(const struct stats_totals *totals, stats_visitor *visit, void *context)
{
	visit(context, "checksum.", "ok", totals->checksums[CHECKSUM_OK]);
	visit(context, "checksum.", "bad", totals->checksums[CHECKSUM_BAD]);
	visit(context, "checksum.", "partial", totals->checksums[CHECKSUM_PARTIAL]);
	visit(context, "checksum.", "unverified", totals->checksums[CHECKSUM_UNVERIFIED]);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (totals->fired[i] > 0)
			visit(context, "probe.", manifest_probes[i].name, totals->fired[i]);
}

void
stats_visit_counters(struct workers *workers, stats_visitor *visit, void *context)
{
	struct stats_totals totals;

	stats_collect(workers, &totals);
	stats_visit_observed(&totals.observed, visit, context);
	stats_visit_input(&totals.input, visit, context);
	stats_visit_flows(&totals.flows, visit, context);
	stats_visit_app_flows(&totals, visit, context);
	stats_visit_probes(&totals, visit, context);
}
