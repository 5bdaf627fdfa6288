/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/summary.h"

#include "probes/fire.h"
#include "probes/manifest.h"

static void
line(FILE *to, const char *group, const char *name, uint64_t value)
{
	fprintf(to, "%s%s %llu\n", group, name, (unsigned long long)value);
}

static void
write_input(FILE *to, const struct input_counters *c)
{
	line(to, "capture.", "received", c->received);
	line(to, "capture.", "dropped", c->dropped);
	line(to, "capture.", "interface-dropped", c->interface_dropped);
	line(to, "capture.", "filtered", c->filtered);
	line(to, "capture.", "damaged", c->damaged);
}

static void
write_observed(FILE *to, const struct observe_counters *c)
{
	line(to, "", "frames", c->frames);
	line(to, "", "bytes", c->bytes);
	line(to, "", "packets", c->packets);
	line(to, "", "truncated", c->truncated);
	line(to, "", "loopback-copies", c->loopback_copies);
	line(to, "", "interface-copies", c->interface_copies);
	line(to, "", "backwards", c->backwards);
	for (unsigned i = ANOMALY_NONE + 1; i < ANOMALY_COUNT; i++)
		if (c->anomalies[i] > 0)
			line(to, "anomaly.", anomaly_word((enum anomaly)i), c->anomalies[i]);
}

static void
write_flows(FILE *to, const struct flow_counters *c)
{
	line(to, "flow.", "now", c->flows);
	line(to, "flow.", "created", c->created);
	line(to, "flow.", "expired", c->expired);
	line(to, "flow.", "reused", c->reused);
	line(to, "flow.", "midstream", c->midstream);
	line(to, "flow.", "evicted-half-open", c->evicted_half_open);
	line(to, "flow.", "evicted-closing", c->evicted_closing);
	line(to, "flow.", "evicted-udp", c->evicted_udp);
	line(to, "flow.", "evicted-idle", c->evicted_idle);
	line(to, "flow.", "evicted-oldest", c->evicted_oldest);
}

static void
write_probes(FILE *to, const struct prober *prober)
{
	line(to, "checksum.", "ok", prober_checksums(prober, CHECKSUM_OK));
	line(to, "checksum.", "bad", prober_checksums(prober, CHECKSUM_BAD));
	line(to, "checksum.", "partial", prober_checksums(prober, CHECKSUM_PARTIAL));
	line(to, "checksum.", "unverified", prober_checksums(prober, CHECKSUM_UNVERIFIED));
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		uint64_t fired = prober_fired(prober, (enum probe_id)i);

		if (fired > 0)
			line(to, "probe.", manifest_probes[i].name, fired);
	}
}

void
summary_write(FILE *to, struct input *input, const struct observer *observer)
{
	write_observed(to, observer_counters(observer));
	write_input(to, input_counters(input));
	write_flows(to, flow_table_counters(observer_flows(observer)));
	write_probes(to, observer_prober(observer));
	fflush(to);
}
