/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/metrics_page.h"

#include <string.h>

#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/site_select.h"

static void
metrics_add_family(struct text_buffer *text, const char *name, const char *type, const char *help)
{
	text_add_format(text, "# HELP netobs_%s %s\n# TYPE netobs_%s %s\n", name, help, name, type);
}

static void
metrics_add_sample(struct text_buffer *text, const char *name, uint64_t value)
{
	text_add_format(text, "netobs_%s %llu\n", name, (unsigned long long)value);
}

/* Label values are constants of netobsd and need no escaping. */
static void
metrics_add_labelled(struct text_buffer *text, const char *name, const char *label, const char *word, uint64_t value)
{
	text_add_format(text, "netobs_%s{%s=\"%s\"} %llu\n", name, label, word, (unsigned long long)value);
}

static void
metrics_add_counter(struct text_buffer *text, const char *name, const char *help, uint64_t value)
{
	metrics_add_family(text, name, "counter", help);
	metrics_add_sample(text, name, value);
}

static void
metrics_add_gauge(struct text_buffer *text, const char *name, const char *help, uint64_t value)
{
	metrics_add_family(text, name, "gauge", help);
	metrics_add_sample(text, name, value);
}

static void
metrics_add_build(const struct query_context *query, struct text_buffer *text)
{
	metrics_add_family(text, "build_info", "gauge",
			   "Version and build id of netobsd, as labels; the value is always 1.");
	text_add_format(text, "netobs_build_info{version=\"%s\",build_id=\"%s\"} 1\n", PACKAGE_VERSION,
			query->build.hex);
	metrics_add_gauge(text, "start_time_seconds", "Start time of netobsd, in seconds since the epoch.",
			  (uint64_t)query->started);
}

static void
metrics_add_observed(const struct observe_counters *c, struct text_buffer *text)
{
	metrics_add_counter(text, "frames_total", "Frames observed.", c->frames);
	metrics_add_counter(text, "bytes_total", "Bytes of the observed frames on the wire.", c->bytes);
	metrics_add_counter(text, "packets_total", "IP and ARP packets observed, including packets inside tunnels.",
			    c->packets);
	metrics_add_counter(text, "truncated_packets_total", "Packets truncated by the snapshot length.", c->truncated);
	metrics_add_counter(text, "backwards_frames_total",
			    "Frames with an earlier time stamp than a frame before them.", c->backward_frames);
	metrics_add_family(text, "copied_frames_total", "counter",
			   "Frames ignored because they were captured twice, by kind of copy.");
	metrics_add_labelled(text, "copied_frames_total", "kind", "loopback", c->loopback_duplicates);
	metrics_add_labelled(text, "copied_frames_total", "kind", "interface", c->lower_duplicates);
	metrics_add_family(text, "anomalies_total", "counter", "Packets with an anomaly, by anomaly (see netobs(7)).");
	for (unsigned i = ANOMALY_NONE + 1; i < ANOMALY_COUNT; i++)
		metrics_add_labelled(text, "anomalies_total", "anomaly", anomaly_name((enum anomaly)i),
				     c->anomalies[i]);
}

static void
metrics_add_retransmissions(const struct observe_counters *c, struct text_buffer *text)
{
	metrics_add_family(text, "tcp_retransmissions_total", "counter", "TCP retransmissions, by cause.");
	for (unsigned i = RETRANSMIT_NONE + 1; i <= RETRANSMIT_SYN; i++)
		metrics_add_labelled(text, "tcp_retransmissions_total", "kind",
				     retransmit_kind_name((enum tcp_retransmit_kind)i), c->retransmissions[i]);
}

static void
metrics_add_input(const struct input_counters *c, struct text_buffer *text)
{
	metrics_add_counter(text, "capture_received_frames_total",
			    "Frames that matched the filter, including dropped ones.", c->received);
	metrics_add_family(text, "capture_dropped_frames_total", "counter",
			   "Frames dropped before they could be observed, by the kernel or by an interface.");
	metrics_add_labelled(text, "capture_dropped_frames_total", "by", "kernel", c->dropped);
	metrics_add_labelled(text, "capture_dropped_frames_total", "by", "interface", c->interface_dropped);
}

/* Interface names are arbitrary: they are escaped as the format requires. */
static void
metrics_add_interface(void *context, const struct input_interface *port)
{
	struct text_buffer *text = context;

	text_add_format(text, "netobs_interface_up{interface=\"");
	for (const char *at = port->interface->name; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			text_add_format(text, "\\%c", *at);
		else
			text_add_format(text, "%c", *at >= ' ' && *at <= '~' ? *at : '?');
	}
	text_add_format(text, "\"} %d\n", port->state == INTERFACE_UP);
}

static const char *
metrics_state_label(const char *state)
{
	return strncmp(state, "state-", 6) == 0 ? state + 6 : "unknown";
}

static void
metrics_add_states(const struct query_context *query, const struct state_counter *counters, struct text_buffer *text)
{
	struct state_counts all = {0};
	const struct state_counts *states = &all;

	for (unsigned i = 0; i < query->workers->count; i++) {
		const struct state_counts *told = &counters[i].complete;

		for (unsigned state = 0; state < TCP_STATE_COUNT; state++)
			all.tcp[state] += told->tcp[state];
		for (unsigned state = 0; state < SCTP_STATE_COUNT; state++)
			all.sctp[state] += told->sctp[state];
		all.udp += told->udp;
	}
	metrics_add_family(text, "connections_by_state", "gauge",
			   "Connections by the state of their local end; a count may be a few seconds old.");
	for (unsigned i = 0; i < TCP_STATE_COUNT; i++)
		text_add_format(text, "netobs_connections_by_state{proto=\"tcp\",state=\"%s\"} %llu\n",
				metrics_state_label(tcp_state_name((enum tcp_state)i)),
				(unsigned long long)states->tcp[i]);
	for (unsigned i = 0; i < SCTP_STATE_COUNT; i++)
		text_add_format(text, "netobs_connections_by_state{proto=\"sctp\",state=\"%s\"} %llu\n",
				metrics_state_label(sctp_state_name((enum sctp_state)i)),
				(unsigned long long)states->sctp[i]);
	text_add_format(text, "netobs_connections_by_state{proto=\"udp\",state=\"stream\"} %llu\n",
			(unsigned long long)states->udp);
}

static void
metrics_add_flows(const struct query_context *query, const struct flow_counters *c, struct text_buffer *text)
{
	metrics_add_gauge(text, "connections", "Connections and UDP streams tracked now.", c->flows);
	metrics_add_gauge(text, "connections_limit", "Maximum number of connections and UDP streams (max-flows).",
			  query->config->flow_limits.flows);
	metrics_add_counter(text, "connections_created_total", "Connections and UDP streams tracked since the start.",
			    c->created);
	metrics_add_counter(text, "connections_expired_total", "Connections and UDP streams ended by a timer.",
			    c->expired);
	metrics_add_counter(text, "connections_reused_total",
			    "Connections that reused the addresses and ports of one in TIME_WAIT.", c->reused);
	metrics_add_counter(text, "connections_midstream_total", "Connections picked up in mid-stream.", c->midstream);
	metrics_add_family(text, "evictions_total", "counter",
			   "Connections evicted to make room, by class; the classes are evicted in this order.");
	metrics_add_labelled(text, "evictions_total", "reason", "half-open", c->evicted_half_open);
	metrics_add_labelled(text, "evictions_total", "reason", "closing", c->evicted_closing);
	metrics_add_labelled(text, "evictions_total", "reason", "udp", c->evicted_udp);
	metrics_add_labelled(text, "evictions_total", "reason", "idle", c->evicted_idle);
	metrics_add_labelled(text, "evictions_total", "reason", "oldest", c->evicted_oldest);
	metrics_add_labelled(text, "evictions_total", "reason", "crowded", c->evicted_crowded);
}

static void
metrics_add_fragments(const struct reassembly_counters *c, struct text_buffer *text)
{
	metrics_add_gauge(text, "reassembly_datagrams", "Datagrams waiting for fragments.", c->datagrams);
	metrics_add_gauge(text, "reassembly_bytes", "Bytes of fragments held.", c->bytes);
	metrics_add_counter(text, "reassembly_fragments_total", "Fragments received.", c->fragments);
	metrics_add_counter(text, "reassembly_whole_total", "Datagrams reassembled.", c->completed);
	metrics_add_family(text, "reassembly_failures_total", "counter",
			   "Datagrams that could not be reassembled, by reason.");
	metrics_add_labelled(text, "reassembly_failures_total", "reason", "overlap", c->overlaps);
	metrics_add_labelled(text, "reassembly_failures_total", "reason", "end", c->end_conflicts);
	metrics_add_labelled(text, "reassembly_failures_total", "reason", "crowded", c->too_many_fragments);
	metrics_add_labelled(text, "reassembly_failures_total", "reason", "timeout", c->timeouts);
	metrics_add_labelled(text, "reassembly_failures_total", "reason", "evicted", c->evicted);
}

static void
metrics_add_memory(const struct query_context *query, struct text_buffer *text)
{
	struct stats_memory memory = stats_reserved_memory(query->config);

	metrics_add_family(text, "memory_reserved_bytes", "gauge", "Memory reserved at the start; it never grows.");
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "connections", memory.flows);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "fragments", memory.fragments);
	metrics_add_labelled(text, "memory_reserved_bytes", "for", "owners", memory.owner_lookup);
	metrics_add_gauge(text, "memory_resident_bytes", "Resident memory of the process.", stats_resident_memory());
}

static void
metrics_add_probes(const struct stats_totals *totals, struct text_buffer *text)
{
	metrics_add_family(text, "probe_firings_total", "counter", "Firings of each probe.");
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		metrics_add_labelled(text, "probe_firings_total", "probe", manifest_probes[i].name,
			 totals->fired[i]);
	metrics_add_family(text, "probe_tracers", "gauge", "Tracers that have enabled each probe, including --print.");
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		metrics_add_labelled(text, "probe_tracers", "probe", manifest_probes[i].name,
				     site_count_tracers(SEMAPHORE_READ(probe_semaphores[i])));
	metrics_add_family(text, "checksums_total", "counter",
			   "Transport checksums of packets for which a probe fired, by verdict.");
	metrics_add_labelled(text, "checksums_total", "verdict", "ok", totals->checksums[CHECKSUM_OK]);
	metrics_add_labelled(text, "checksums_total", "verdict", "bad", totals->checksums[CHECKSUM_BAD]);
	metrics_add_labelled(text, "checksums_total", "verdict", "partial", totals->checksums[CHECKSUM_PARTIAL]);
	metrics_add_labelled(text, "checksums_total", "verdict", "unverified", totals->checksums[CHECKSUM_UNVERIFIED]);
}

void
metrics_write_page(struct query_context *query, const struct state_counter *counters, struct text_buffer *text)
{
	struct stats_totals totals;

	stats_collect(query->workers, &totals);
	metrics_add_build(query, text);
	metrics_add_observed(&totals.observed, text);
	metrics_add_retransmissions(&totals.observed, text);
	metrics_add_input(&totals.input, text);
	metrics_add_family(text, "interface_up", "gauge", "1 if the observed interface is up, else 0.");
	stats_visit_interfaces(query->workers, metrics_add_interface, text);
	metrics_add_flows(query, &totals.flows, text);
	metrics_add_states(query, counters, text);
	metrics_add_fragments(&totals.fragments, text);
	metrics_add_memory(query, text);
	metrics_add_probes(&totals, text);
}
