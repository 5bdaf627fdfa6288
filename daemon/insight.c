/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/insight.h"

#include <stdio.h>
#include <unistd.h>

#include "flow/conversation.h"
#include "daemon/owner.h"
#include "probes/fire.h"
#include "probes/manifest.h"

struct insight_memory
insight_memory(const struct config *config)
{
	struct reassembly_limits pieces = reassembly_limits_default();
	struct owners_limits owners = owners_limits_default();
	bool looked_up = config->owners && config->interfaces[0] != NULL;

	return (struct insight_memory){
	    .flows = flow_table_memory(config->limits.flows),
	    .fragments = reassembly_memory(&pieces),
	    .owners = looked_up ? owners_memory(&owners) : 0,
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
	    [RETRANSMIT_NONE] = "none",	  [RETRANSMIT_FAST] = "fast",	      [RETRANSMIT_TIMEOUT] = "timeout",
	    [RETRANSMIT_PROBE] = "probe", [RETRANSMIT_SPURIOUS] = "spurious", [RETRANSMIT_SYN] = "syn",
	};

	return words[kind];
}

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

/* Only where an application provider has found a connection. */
static void
visit_conversations(const struct conversations *all, insight_visitor *visit, void *context)
{
	const struct conversation_counters *c = conversations_counters(all);
	const struct stream_counters *s = conversations_streams(all);

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
visit_probes(const struct prober *prober, insight_visitor *visit, void *context)
{
	visit(context, "checksum.", "ok", prober_checksums(prober, CHECKSUM_OK));
	visit(context, "checksum.", "bad", prober_checksums(prober, CHECKSUM_BAD));
	visit(context, "checksum.", "partial", prober_checksums(prober, CHECKSUM_PARTIAL));
	visit(context, "checksum.", "unverified", prober_checksums(prober, CHECKSUM_UNVERIFIED));
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		uint64_t fired = prober_fired(prober, (enum probe_id)i);

		if (fired > 0)
			visit(context, "probe.", manifest_probes[i].name, fired);
	}
}

void
insight_counters(struct input *input, const struct observer *observer, insight_visitor *visit, void *context)
{
	visit_observed(observer_counters(observer), visit, context);
	visit_input(input_counters(input), visit, context);
	visit_flows(flow_table_counters(observer_flows(observer)), visit, context);
	visit_conversations(observer_conversations(observer), visit, context);
	visit_probes(observer_prober(observer), visit, context);
}
