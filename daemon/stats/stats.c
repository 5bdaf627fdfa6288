/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/owner/owner_lookup.h"
#include "probes/fire.h"
#include "probes/manifest.h"

struct insight_memory
insight_memory(const struct config *config)
{
	struct reassembly_limits pieces = reassembly_limits_default();
	unsigned workers = workers_wanted(config);
	struct owners_limits owners = owners_limits_for(workers);
	bool looked_up = config->owners && config->interfaces[0] != NULL;

	return (struct insight_memory){
	    .flows = workers * flow_table_memory(observer_flow_limit(config, workers)),
	    .fragments = workers * reassembly_memory(&pieces),
	    .owners = looked_up ? workers * owners_memory(&owners) : 0,
	};
}

uint64_t
insight_resident(void)
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
insight_retransmission(enum retransmit_kind kind)
{
	static const char *const words[RETRANSMIT_SYN + 1] = {
	    [RETRANSMIT_NONE] = "none",		[RETRANSMIT_FAST] = "fast",
	    [RETRANSMIT_TIMEOUT] = "timeout",	[RETRANSMIT_PROBE] = "tail-loss-probe",
	    [RETRANSMIT_SPURIOUS] = "spurious", [RETRANSMIT_SYN] = "syn",
	};

	return words[kind];
}

/* ----------------------------------------------------------------------------------------------------------- totals */

/* Adds a struct that consists of counters only. */
static void
add(void *totals, const void *counters, size_t size)
{
	uint64_t *to = totals;
	const uint64_t *from = counters;

	for (size_t i = 0; i < size / sizeof *to; i++)
		to[i] += from[i];
}

#define ADD(totals, counters)                                                                                          \
	do {                                                                                                           \
		_Static_assert(sizeof *(totals) == sizeof *(counters) && sizeof *(totals) % sizeof(uint64_t) == 0,     \
			       "nothing but counters, of one kind");                                                   \
		add((totals), (counters), sizeof *(totals));                                                           \
	} while (0)

/* Every socket reports the interface's own losses, so they are added for one worker only. */
static void
add_input(struct input_counters *totals, const struct worker *worker)
{
	struct input_counters counters = *input_counters(worker->input);

	if (worker->number > 0)
		counters.interface_dropped = 0;
	ADD(totals, &counters);
}

static void
add_worker(struct insight_totals *totals, const struct worker *worker)
{
	const struct observer *observer = worker->observer;
	const struct conversations *conversations = observer_conversations(observer);
	const struct prober *prober = observer_prober(observer);
	uint64_t longest = totals->flows.longest_probe;

	add_input(&totals->taken, worker);
	ADD(&totals->seen, observer_counters(observer));
	ADD(&totals->flows, flow_table_counters(observer_flows(observer)));
	totals->flows.longest_probe -= longest;
	if (longest > totals->flows.longest_probe)
		totals->flows.longest_probe = longest;
	ADD(&totals->fragments, observer_fragments(observer));
	ADD(&totals->conversations, conversations_counters(conversations));
	ADD(&totals->streams, conversations_streams(conversations));
	for (unsigned i = 0; i <= CHECKSUM_PARTIAL; i++)
		totals->checksums[i] += prober_checksums(prober, (enum checksum_verdict)i);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		totals->fired[i] += prober_fired(prober, (enum probe_id)i);
}

void
insight_totals(struct workers *workers, struct insight_totals *totals)
{
	*totals = (struct insight_totals){0};
	for (unsigned i = 0; i < workers->count; i++) {
		const struct worker *worker = &workers->each[i];

		guard_enter(worker->guard);
		add_worker(totals, worker);
		guard_leave(worker->guard);
	}
}

/* Sums per interface.  Every worker has the same interfaces in the same order. */
struct gathering {
	const struct worker *worker;
	struct input_interface *each, *next;
};

static void
gather(void *context, const struct input_interface *interface)
{
	struct gathering *gathering = context;
	struct input_interface *all = gathering->next++;

	if (gathering->worker->number == 0) {
		*all = *interface;
		return;
	}
	all->received += interface->received;
	all->dropped += interface->dropped;
}

/* Names are those of the first worker, which runs in the calling thread. */
void
insight_interfaces(struct workers *workers, input_visitor *visit, void *context)
{
	size_t count = 0;
	struct gathering gathering = {0};

	while (workers->config->interfaces[count] != NULL)
		count++;
	gathering.each = calloc(count > 0 ? count : 1, sizeof *gathering.each);
	if (gathering.each == NULL) {
		log_warning("out of memory");
		return;
	}
	for (unsigned i = 0; i < workers->count; i++) {
		gathering.worker = &workers->each[i];
		gathering.next = gathering.each;
		guard_enter(gathering.worker->guard);
		input_visit(gathering.worker->input, gather, &gathering);
		guard_leave(gathering.worker->guard);
	}
	for (const struct input_interface *each = gathering.each; each < gathering.next; each++)
		visit(context, each);
	free(gathering.each);
}

/* --------------------------------------------------------------------------------------------------------- visitors */

static void
visit_input(const struct input_counters *c, insight_visitor *visit, void *context)
{
	visit(context, "capture.", "received", c->received);
	visit(context, "capture.", "dropped", c->dropped);
	visit(context, "capture.", "interface-dropped", c->interface_dropped);
	visit(context, "capture.", "filtered", c->filtered);
	visit(context, "capture.", "damaged", c->damaged);
}

static void
visit_observed(const struct observe_counters *c, insight_visitor *visit, void *context)
{
	visit(context, "", "frames", c->frames);
	visit(context, "", "bytes", c->bytes);
	visit(context, "", "packets", c->packets);
	visit(context, "", "truncated", c->truncated);
	visit(context, "", "loopback-copies", c->loopback_copies);
	visit(context, "", "interface-copies", c->interface_copies);
	visit(context, "", "backwards", c->backwards);
	for (unsigned i = RETRANSMIT_NONE + 1; i <= RETRANSMIT_SYN; i++)
		if (c->retransmissions[i] > 0)
			visit(context, "retransmission.", insight_retransmission((enum retransmit_kind)i),
			      c->retransmissions[i]);
	for (unsigned i = ANOMALY_NONE + 1; i < ANOMALY_COUNT; i++)
		if (c->anomalies[i] > 0)
			visit(context, "anomaly.", anomaly_word((enum anomaly)i), c->anomalies[i]);
}

static void
visit_flows(const struct flow_counters *c, insight_visitor *visit, void *context)
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
visit_conversations(const struct insight_totals *totals, insight_visitor *visit, void *context)
{
	const struct conversation_counters *c = &totals->conversations;
	const struct stream_counters *s = &totals->streams;

	if (c->begun == 0)
		return;
	visit(context, "conversation.", "now", c->now);
	visit(context, "conversation.", "begun", c->begun);
	visit(context, "conversation.", "midstream", c->midstream);
	visit(context, "conversation.", "evicted", c->evicted);
	visit(context, "stream.", "bytes", s->bytes);
	visit(context, "stream.", "gaps", s->gaps);
	visit(context, "stream.", "missing-bytes", s->missing);
	visit(context, "stream.", "early-segments", s->early);
	visit(context, "stream.", "repeated-bytes", s->repeated);
	visit(context, "stream.", "incomparable-bytes", s->incomparable);
	visit(context, "stream.", "differing-segments", s->differing);
	visit(context, "stream.", "crowded-gaps", s->crowded);
	visit(context, "stream.", "robbed", s->robbed);
}

static void
visit_probes(const struct insight_totals *totals, insight_visitor *visit, void *context)
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
insight_counters(struct workers *workers, insight_visitor *visit, void *context)
{
	struct insight_totals totals;

	insight_totals(workers, &totals);
	visit_observed(&totals.seen, visit, context);
	visit_input(&totals.taken, visit, context);
	visit_flows(&totals.flows, visit, context);
	visit_conversations(&totals, visit, context);
	visit_probes(&totals, visit, context);
}
