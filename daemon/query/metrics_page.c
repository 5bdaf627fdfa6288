/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/metrics_page.h"

#include <string.h>

#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/site_select.h"

static void
family(struct text *text, const char *name, const char *type, const char *help)
{
	text_add(text, "# HELP netobs_%s %s\n# TYPE netobs_%s %s\n", name, help, name, type);
}

static void
sample(struct text *text, const char *name, uint64_t value)
{
	text_add(text, "netobs_%s %llu\n", name, (unsigned long long)value);
}

/* Label values are constants of netobsd and need no escaping. */
static void
labelled(struct text *text, const char *name, const char *label, const char *word, uint64_t value)
{
	text_add(text, "netobs_%s{%s=\"%s\"} %llu\n", name, label, word, (unsigned long long)value);
}

static void
counter(struct text *text, const char *name, const char *help, uint64_t value)
{
	family(text, name, "counter", help);
	sample(text, name, value);
}

static void
gauge(struct text *text, const char *name, const char *help, uint64_t value)
{
	family(text, name, "gauge", help);
	sample(text, name, value);
}

static void
add_build(const struct insight *insight, struct text *text)
{
	family(text, "build_info", "gauge", "Version and build id of netobsd, as labels; the value is always 1.");
	text_add(text, "netobs_build_info{version=\"%s\",build_id=\"%s\"} 1\n", PACKAGE_VERSION, insight->build.hex);
	gauge(text, "start_time_seconds", "Start time of netobsd, in seconds since the epoch.",
	      (uint64_t)insight->started);
}

static void
add_observed(const struct observe_counters *c, struct text *text)
{
	counter(text, "frames_total", "Frames observed.", c->frames);
	counter(text, "bytes_total", "Bytes of the observed frames on the wire.", c->bytes);
	counter(text, "packets_total", "IP and ARP packets observed, including packets inside tunnels.", c->packets);
	counter(text, "truncated_packets_total", "Packets truncated by the snapshot length.", c->truncated);
	counter(text, "backwards_frames_total", "Frames with an earlier time stamp than a frame before them.",
		c->backwards);
	family(text, "copied_frames_total", "counter",
	       "Frames ignored because they were captured twice, by kind of copy.");
	labelled(text, "copied_frames_total", "kind", "loopback", c->loopback_copies);
	labelled(text, "copied_frames_total", "kind", "interface", c->interface_copies);
	family(text, "anomalies_total", "counter", "Packets with an anomaly, by anomaly (see netobs(7)).");
	for (unsigned i = ANOMALY_NONE + 1; i < ANOMALY_COUNT; i++)
		labelled(text, "anomalies_total", "anomaly", anomaly_word((enum anomaly)i), c->anomalies[i]);
}

static void
add_retransmissions(const struct observe_counters *c, struct text *text)
{
	family(text, "tcp_retransmissions_total", "counter", "TCP retransmissions, by cause.");
	for (unsigned i = RETRANSMIT_NONE + 1; i <= RETRANSMIT_SYN; i++)
		labelled(text, "tcp_retransmissions_total", "kind", insight_retransmission((enum retransmit_kind)i),
			 c->retransmissions[i]);
}

static void
add_input(const struct input_counters *c, struct text *text)
{
	counter(text, "capture_received_frames_total", "Frames that matched the filter, including dropped ones.",
		c->received);
	family(text, "capture_dropped_frames_total", "counter",
	       "Frames dropped before they could be observed, by the kernel or by an interface.");
	labelled(text, "capture_dropped_frames_total", "by", "kernel", c->dropped);
	labelled(text, "capture_dropped_frames_total", "by", "interface", c->interface_dropped);
}

/* Interface names are arbitrary: they are escaped as the format requires. */
static void
add_interface(void *context, const struct input_interface *port)
{
	struct text *text = context;

	text_add(text, "netobs_interface_up{interface=\"");
	for (const char *at = port->interface->name; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			text_add(text, "\\%c", *at);
		else
			text_add(text, "%c", *at >= ' ' && *at <= '~' ? *at : '?');
	}
	text_add(text, "\"} %d\n", port->state == INTERFACE_UP);
}

static const char *
without_prefix(const char *state)
{
	return strncmp(state, "state-", 6) == 0 ? state + 6 : "unknown";
}

static void
add_states(const struct insight *insight, const struct census *censuses, struct text *text)
{
	struct census_counts all = {0};
	const struct census_counts *states = &all;

	for (unsigned i = 0; i < insight->workers->count; i++) {
		const struct census_counts *told = &censuses[i].told;

		for (unsigned state = 0; state < TCP_STATE_COUNT; state++)
			all.tcp[state] += told->tcp[state];
		for (unsigned state = 0; state < SCTP_STATE_COUNT; state++)
			all.sctp[state] += told->sctp[state];
		all.udp += told->udp;
	}
	family(text, "connections_by_state", "gauge",
	       "Connections by the state of their local end; a count may be a few seconds old.");
	for (unsigned i = 0; i < TCP_STATE_COUNT; i++)
		text_add(text, "netobs_connections_by_state{proto=\"tcp\",state=\"%s\"} %llu\n",
			 without_prefix(tcp_state_name((enum tcp_state)i)), (unsigned long long)states->tcp[i]);
	for (unsigned i = 0; i < SCTP_STATE_COUNT; i++)
		text_add(text, "netobs_connections_by_state{proto=\"sctp\",state=\"%s\"} %llu\n",
			 without_prefix(sctp_state_name((enum sctp_state)i)), (unsigned long long)states->sctp[i]);
	text_add(text, "netobs_connections_by_state{proto=\"udp\",state=\"stream\"} %llu\n",
		 (unsigned long long)states->udp);
}

static void
add_flows(const struct insight *insight, const struct flow_counters *c, struct text *text)
{
	gauge(text, "connections", "Connections and UDP streams tracked now.", c->flows);
	gauge(text, "connections_limit", "Maximum number of connections and UDP streams (max-flows).",
	      insight->config->limits.flows);
	counter(text, "connections_created_total", "Connections and UDP streams tracked since the start.", c->created);
	counter(text, "connections_expired_total", "Connections and UDP streams ended by a timer.", c->expired);
	counter(text, "connections_reused_total",
		"Connections that reused the addresses and ports of one in TIME_WAIT.", c->reused);
	counter(text, "connections_midstream_total", "Connections picked up in mid-stream.", c->midstream);
	family(text, "evictions_total", "counter",
	       "Connections evicted to make room, by class; the classes are evicted in this order.");
	labelled(text, "evictions_total", "reason", "half-open", c->evicted_half_open);
	labelled(text, "evictions_total", "reason", "closing", c->evicted_closing);
	labelled(text, "evictions_total", "reason", "udp", c->evicted_udp);
	labelled(text, "evictions_total", "reason", "idle", c->evicted_idle);
	labelled(text, "evictions_total", "reason", "oldest", c->evicted_oldest);
	labelled(text, "evictions_total", "reason", "crowded", c->evicted_crowded);
}

static void
add_fragments(const struct reassembly_counters *c, struct text *text)
{
	gauge(text, "reassembly_datagrams", "Datagrams waiting for fragments.", c->datagrams);
	gauge(text, "reassembly_bytes", "Bytes of fragments held.", c->bytes);
	counter(text, "reassembly_fragments_total", "Fragments received.", c->fragments);
	counter(text, "reassembly_whole_total", "Datagrams reassembled.", c->whole);
	family(text, "reassembly_failures_total", "counter", "Datagrams that could not be reassembled, by reason.");
	labelled(text, "reassembly_failures_total", "reason", "overlap", c->overlaps);
	labelled(text, "reassembly_failures_total", "reason", "end", c->ends);
	labelled(text, "reassembly_failures_total", "reason", "crowded", c->crowded);
	labelled(text, "reassembly_failures_total", "reason", "timeout", c->timeouts);
	labelled(text, "reassembly_failures_total", "reason", "evicted", c->evicted);
}

static void
add_memory(const struct insight *insight, struct text *text)
{
	struct insight_memory memory = insight_memory(insight->config);

	family(text, "memory_reserved_bytes", "gauge", "Memory reserved at the start; it never grows.");
	labelled(text, "memory_reserved_bytes", "for", "connections", memory.flows);
	labelled(text, "memory_reserved_bytes", "for", "fragments", memory.fragments);
	labelled(text, "memory_reserved_bytes", "for", "owners", memory.owners);
	gauge(text, "memory_resident_bytes", "Resident memory of the process.", insight_resident());
}

static void
add_probes(const struct insight_totals *totals, struct text *text)
{
	family(text, "probe_firings_total", "counter", "Firings of each probe.");
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		labelled(text, "probe_firings_total", "probe", manifest_probes[i].name,
			 totals->fired[i]);
	family(text, "probe_tracers", "gauge", "Tracers that have enabled each probe, including --print.");
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		labelled(text, "probe_tracers", "probe", manifest_probes[i].name,
			 site_tracers(SEMAPHORE_NOW(probe_semaphores[i])));
	family(text, "checksums_total", "counter",
	       "Transport checksums of packets for which a probe fired, by verdict.");
	labelled(text, "checksums_total", "verdict", "ok", totals->checksums[CHECKSUM_OK]);
	labelled(text, "checksums_total", "verdict", "bad", totals->checksums[CHECKSUM_BAD]);
	labelled(text, "checksums_total", "verdict", "partial", totals->checksums[CHECKSUM_PARTIAL]);
	labelled(text, "checksums_total", "verdict", "unverified", totals->checksums[CHECKSUM_UNVERIFIED]);
}

void
metrics_page(struct insight *insight, const struct census *censuses, struct text *text)
{
	struct insight_totals totals;

	insight_totals(insight->workers, &totals);
	add_build(insight, text);
	add_observed(&totals.seen, text);
	add_retransmissions(&totals.seen, text);
	add_input(&totals.taken, text);
	family(text, "interface_up", "gauge", "1 if the observed interface is up, else 0.");
	insight_interfaces(insight->workers, add_interface, text);
	add_flows(insight, &totals.flows, text);
	add_states(insight, censuses, text);
	add_fragments(&totals.fragments, text);
	add_memory(insight, text);
	add_probes(&totals, text);
}
