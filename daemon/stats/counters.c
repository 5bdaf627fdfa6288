/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/output.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "formulas/formula_set.h"
#include "probes/manifest.h"
#include "probes/site/site_select.h"

/* ---------------------------------------------------------------------------------------- names of array elements */

static const char *
counters_retransmission_name(unsigned kind)
{
	return tcp_retransmit_kind_name((enum tcp_retransmit_kind)kind);
}

static const char *
counters_anomaly_name(unsigned anomaly)
{
	return anomaly_name((enum anomaly)anomaly);
}

static const char *
counters_probe_name(unsigned id)
{
	return manifest_probes[id].name;
}

static const char *
counters_shorten_state(const char *state)
{
	return strncmp(state, "state-", 6) == 0 ? state + 6 : "unknown";
}

static const char *
counters_tcp_state_name(unsigned state)
{
	return counters_shorten_state(tcp_state_name((enum tcp_state)state));
}

static const char *
counters_sctp_state_name(unsigned state)
{
	return counters_shorten_state(sctp_state_name((enum sctp_state)state));
}

/* As in cr_reason of the contract. */
static const char *
counters_reason_name(unsigned reason)
{
	return record_reason_name((enum record_reason)reason);
}

static const char *
counters_bucket_name(unsigned bucket)
{
	/* Those of record_bucket_bounds_us. */
	static const char *const names[RECORD_BUCKETS + 1] = {
	    "up-to-100us", "up-to-250us", "up-to-500us", "up-to-1ms",	"up-to-2.5ms", "up-to-5ms",
	    "up-to-10ms",  "up-to-25ms",  "up-to-50ms",	 "up-to-100ms", "up-to-250ms", "up-to-500ms",
	    "up-to-1s",	   "up-to-2.5s",  "up-to-5s",	 "up-to-10s",	"above-10s",
	};

	return names[bucket];
}

/* ------------------------------------------------------------------------------------------------------- the table */

#define FIELD(member) .offset = offsetof(struct stats_totals, member)
#define IF_USED(member) .condition = COUNTER_IF_USED, .used_offset = offsetof(struct stats_totals, member)
#define IF_NONZERO .condition = COUNTER_IF_NONZERO
#define EXPORTED(when) .exported = EXPORT_##when
#define OF_APPS IF_USED(app_flows.begun), EXPORTED(IF_USED)
#define HISTOGRAM(member) FIELD(records.member.count), IF_NONZERO, .type = COUNTER_HISTOGRAM, \
	ELEMENTS(0, RECORD_BUCKETS + 1, counters_bucket_name, "time")
#define HISTOGRAM_SUM(member) .name = "sum-us", FIELD(records.member.sum_us), IF_USED(records.member.sum_us)
#define OF_FLIGHT			  IF_USED(flight.frames), EXPORTED(IF_USED)
#define OF_CLOSED IF_USED(closed.now), EXPORTED(IF_USED)
#define OF_OWNERS IF_USED(owners.requests), EXPORTED(IF_USED)
#define ELEMENTS(from, to, name_of, word) .first = (from), .end = (to), .element_name = (name_of), .variable = (word)

/* clang-format off */
const struct counter_row counters_table[] = {
	{.group = "", .name = "frames", FIELD(observed.frames), .metric = "frames_total",
	 .help = "Frames observed."},
	{.group = "", .name = "bytes", FIELD(observed.bytes), .metric = "bytes_total",
	 .help = "Bytes of the observed frames on the wire."},
	{.group = "", .name = "packets", FIELD(observed.packets), .metric = "packets_total",
	 .help = "IP and ARP packets observed, including packets inside tunnels."},
	{.group = "", .name = "truncated", FIELD(observed.truncated), .metric = "truncated_packets_total",
	 .help = "Packets truncated by the snapshot length.",
	 .advice = "Arguments that lie beyond the end are unknown, and streams have gaps: increase --snapshot-length."},
	{.group = "tunnel.", .name = "closed-packets", FIELD(observed.closed_tunnels), IF_USED(observed.closed_tunnels),
	 .metric = "closed_tunnel_packets_total",
	 .help = "Packets of tunnels that are not unpacked: of all kinds with --no-inner, and ESP, IPComp, L2TP, GRE "
		 "with other content than frames and IP packets.",
	 .advice = "Connections inside them are not observed: capture at an end of the tunnel."},
	{.group = "tunnel.", .name = "closed-streams", FIELD(flows.tunnel_streams), IF_USED(flows.tunnel_streams),
	 .metric = "closed_tunnel_streams_total",
	 .help = "UDP streams that have ended, or were open at the end of the run, to the port of a tunnel that is not "
		 "unpacked: CAPWAP (5247), ESP (4500), GRE (4754), GTP-U (2152), GUE (6080), L2TP (1701), LISP (4341), "
		 "MPLS (6635), Teredo (3544), TZSP (37008), VXLAN on port 8472, VXLAN-GPE (4790), WireGuard (51820).",
	 .advice = "As for tunnel.closed-packets."},
	{.group = "", .name = "loopback-copies", FIELD(observed.loopback_duplicates), .metric = "copied_frames_total",
	 .label = "kind", .label_value = "loopback",
	 .metric_help = "Frames ignored because they were captured twice, by kind of copy.",
	 .help = "In files: outgoing copies of frames on a loopback interface, which are ignored. On an interface they "
		 "are counted as received only."},
	{.group = "", .name = "interface-copies", FIELD(observed.lower_duplicates), EXPORTED(WITH_ANY),
	 .metric = "copied_frames_total",
	 .label = "kind", .label_value = "interface",
	 .help = "On \"any\": frames on a lower interface, and packets inside tunnels, that an upper interface "
		 "delivers, too; they are ignored; see \"Interfaces below others\"."},
	{.group = "", .name = "backwards", FIELD(observed.backward_frames), .metric = "backwards_frames_total",
	 .help = "Frames with an earlier time stamp than a frame before them.",
	 .advice = "Many of them in a file: its frames are not in order of time (reordercap(1) sorts them)."},
	{.group = "clock.", .name = "steps", FIELD(observed.clock_steps), .metric = "clock_steps_total",
	 .help = "Steps of the capturing host's clock; see \"Time\".",
	 .advice = "More than one after boot: check the host's time synchronisation."},
	{.group = "clock.", .name = "ignored-stamps", FIELD(observed.stray_stamps),
	 .metric = "clock_ignored_stamps_total",
	 .help = "Frames whose time stamps were ignored, because those around them are far from it.",
	 .advice = "The file is damaged, or the interface has a faulty clock."},

	{.group = "", .name = "tcp-segments", FIELD(observed.tcp_segments), IF_USED(observed.tcp_segments),
	 .metric = "tcp_segments_total", .help = "TCP segments observed."},
	{.group = "retransmission.", FIELD(observed.retransmissions), IF_NONZERO,
	 ELEMENTS(RETRANSMIT_NONE + 1, RETRANSMIT_SYN + 1, counters_retransmission_name, "kind"),
	 .metric = "tcp_retransmissions_total", .label = "kind", .metric_help = "TCP retransmissions, by cause.",
	 .help = "TCP retransmissions, by cause: fast, timeout, tail-loss-probe, spurious or syn; see netobs(7)."},

	{.group = "anomaly.", FIELD(observed.anomalies), IF_NONZERO, EXPORTED(IF_NONZERO),
	 ELEMENTS(ANOMALY_NONE + 1, ANOMALY_COUNT, counters_anomaly_name, "name"),
	 .metric = "anomalies_total", .label = "anomaly",
	 .metric_help = "Packets with an anomaly, by anomaly (see netobs(7)).",
	 .help = "Packets with this anomaly, by its name in netobs(7)."},

	{.group = "capture.", .name = "received", FIELD(input.received), .metric = "capture_received_frames_total",
	 .help = "Frames that matched the filter, including dropped ones; on a loopback interface the kernel counts "
		 "each frame twice, as sent and as received."},
	{.group = "capture.", .name = "dropped", FIELD(input.dropped), .metric = "capture_dropped_frames_total",
	 .label = "by", .label_value = "kernel",
	 .metric_help = "Frames dropped before they could be observed, by the kernel or by an interface.",
	 .help = "Frames that matched the filter but were dropped because the kernel's buffer was full; in pcapng "
		 "files by the statistics that they contain.",
	 .advice = "A larger --buffer-size helps against bursts; against a lasting overload a filter or more "
		   "--workers."},
	{.group = "capture.", .name = "interface-dropped", FIELD(input.interface_dropped),
	 .metric = "capture_dropped_frames_total", .label = "by", .label_value = "interface",
	 .help = "Frames that the interfaces themselves dropped, before any filter; in pcapng files likewise.",
	 .advice = "The interface or its driver is overloaded: ethtool -S shows where, ethtool -G enlarges its ring."},
	{.group = "capture.", .name = "lag-us", FIELD(observed.lag_us), IF_USED(observed.lag_us),
	 .metric = "capture_lag_seconds", .type = COUNTER_GAUGE_US,
	 .help = "Live: largest lag of the last 15 to 30 seconds, from the time stamp of a frame until netobsd "
		 "read it.  The summary has microseconds, the metric seconds.",
	 .advice = "Above a second: the processor is overloaded, and the kernel is about to drop frames."},
	{.group = "capture.", .name = "filtered", FIELD(input.filtered),
	 .help = "Files: frames that did not match the filter."},
	{.group = "capture.", .name = "unsupported", FIELD(input.unsupported), IF_USED(input.unsupported),
	 .help = "Files: frames of interfaces whose link type is not supported.",
	 .advice = "A message names the first such link type of each file."},
	{.group = "capture.", .name = "damaged", FIELD(input.damaged),
	 .help = "Files that ended early: damaged.",
	 .advice = "A message names the file; everything before that place was observed."},

	{.group = "print.", .name = "dropped", FIELD(print_dropped), EXPORTED(WITH_PRINT),
	 .metric = "print_dropped_lines_total",
	 .help = "Lines of --print that were dropped because standard output was not read.",
	 .advice = "The program that reads the lines is slower than the traffic: print fewer probes, or use a filter."},
	{.group = "feed.", .name = "now", FIELD(feeds.feeds), IF_NONZERO, .metric = "feeds",
	 .type = COUNTER_GAUGE, .help = "Streams of netobsctl now."},
	{.group = "feed.", .name = "lines", FIELD(feeds.lines), IF_USED(feeds.lines), .metric = "feed_lines_total",
	 .help = "Lines for all streams of netobsctl, including dropped ones."},
	{.group = "feed.", .name = "dropped", FIELD(feeds.dropped), IF_USED(feeds.lines),
	 .metric = "feed_dropped_lines_total",
	 .help = "Lines of streams that were dropped because their reader was too slow; the stream has their number "
		 "where they are missing.",
	 .advice = "A reader is slower than the traffic, or stopped: choose fewer probes or fields, or a formula."},
	{.group = "flight.", .name = "frames", FIELD(flight.frames), OF_FLIGHT, .metric = "flight_frames_total",
	 .help = "Frames that the flight memory has kept."},
	{.group = "flight.", .name = "bytes", FIELD(flight.bytes), OF_FLIGHT, .metric = "flight_bytes_total",
	 .help = "Bytes of these frames that it has kept."},
	{.group = "flight.", .name = "left-out", FIELD(flight.left_out), OF_FLIGHT,
	 .metric = "flight_left_out_frames_total",
	 .help = "Frames that the flight memory did not keep, because their connection is beyond --flight-bytes.",
	 .advice = "These frames are not in the captures that netobsctl writes: increase --flight-bytes if they are "
		   "missed."},
	{.group = "flight.", .name = "cut", FIELD(flight.cut), OF_FLIGHT, .metric = "flight_cut_frames_total",
	 .help = "Frames of which the flight memory kept the first bytes only: --flight-snap, or an eighth of the "
		 "memory.",
	 .advice = "Without --flight-snap: increase --flight-memory."},
	{.group = "flight.", .name = "overwritten", FIELD(flight.overwritten), OF_FLIGHT,
	 .metric = "flight_overwritten_frames_total",
	 .help = "Frames that the flight memory has overwritten with later ones."},
	{.group = "flight.", .name = "notes", FIELD(flight.notes), OF_FLIGHT, .metric = "flight_notes_total",
	 .help = "Events and formulas that the flight memory has noted at their frames."},
	{.group = "flight.", .name = "notes-dropped", FIELD(flight.notes_dropped), OF_FLIGHT,
	 .metric = "flight_dropped_notes_total",
	 .help = "Notes and connections of frames that have too many of them, and notes of frames left out."},
	{.group = "flight.", .name = "now", FIELD(flight.frames_now), OF_FLIGHT, .metric = "flight_frames",
	 .type = COUNTER_GAUGE, .help = "Frames in the flight memory now."},
	{.group = "flight.", .name = "span-us", FIELD(flight_span_us), OF_FLIGHT,
	 .metric = "flight_span_microseconds", .type = COUNTER_GAUGE,
	 .help = "Packet time from the oldest frame of the flight memory to the latest one, microseconds; with "
		 "several workers, from when on no worker has overwritten a frame.",
	 .advice = "If it is too short: increase --flight-memory, or use --flight-bytes or --flight-snap."},
	{.group = "closed.", .name = "now", FIELD(closed.now), OF_CLOSED, .metric = "closed_connections",
	 .type = COUNTER_GAUGE, .help = "Records of connections that have ended, which are kept now."},
	{.group = "closed.", .name = "overwritten", FIELD(closed.overwritten), OF_CLOSED,
	 .metric = "closed_connections_overwritten_total",
	 .help = "Records of connections that have ended, which later ones have overwritten.",
	 .advice = "If the kept ones do not reach back far enough: increase --closed-connections."},
	{.group = "log.", .name = "dropped", FIELD(log_dropped), .metric = "log_dropped_lines_total",
	 .help = "Messages that were dropped because standard error was not read."},

	{.group = "flow.", .name = "now", FIELD(flows.flows), .metric = "connections", .type = COUNTER_GAUGE,
	 .help = "Connections and UDP streams tracked now."},
	{.group = "flow.", .name = "created", FIELD(flows.created), .metric = "connections_created_total",
	 .help = "Connections and UDP streams tracked since the start."},
	{.group = "flow.", .name = "expired", FIELD(flows.expired), .metric = "connections_expired_total",
	 .help = "Connections and UDP streams ended by a timer."},
	{.group = "flow.", .name = "reused", FIELD(flows.reused), .metric = "connections_reused_total",
	 .help = "Connections that reused the addresses and ports of one in TIME_WAIT."},
	{.group = "flow.", .name = "midstream", FIELD(flows.midstream), .metric = "connections_midstream_total",
	 .help = "Connections picked up in mid-stream.",
	 .advice = "Their beginning was not captured: they are older than netobsd, or frames were dropped; or they go "
		   "on after a timer has ended them."},
	{.group = "flow.", .name = "one-way", FIELD(flows.one_way), IF_USED(flows.one_way),
	 .metric = "connections_one_way_total",
	 .help = "TCP connections and SCTP associations that have ended, or were open at the end of the run, and of "
		 "which only one direction was captured, although the other one exists.",
	 .advice = "A filter, a mirror port or an asymmetric route leaves the other direction out: what needs both, "
		   "such as latencies and most messages of application protocols, is not known."},
	{.group = "flow.", .name = "duplicate-segments", FIELD(flows.duplicate_segments),
	 IF_USED(flows.duplicate_segments), .metric = "tcp_duplicate_segments_total",
	 .help = "TCP segments that were captured twice or that the network duplicated; they change no connection.",
	 .advice = "About half of the frames: a mirror port copies each frame twice."},
	{.group = "flow.", .name = "reordered-segments", FIELD(flows.reordered_segments),
	 IF_USED(flows.reordered_segments), .metric = "tcp_reordered_segments_total",
	 .help = "TCP segments that were captured after segments sent later; they are not retransmissions."},
	{.group = "flow.", .name = "evicted-half-open", FIELD(flows.evicted_half_open), .metric = "evictions_total",
	 .label = "reason", .label_value = "half-open",
	 .metric_help = "Connections evicted from a full table, by class; the classes are evicted in this order.",
	 .help = "Half-open connections evicted because the table was full.",
	 .advice = "Many of them: probably a SYN flood or a scan."},
	{.group = "flow.", .name = "evicted-closing", FIELD(flows.evicted_closing), .metric = "evictions_total",
	 .label = "reason", .label_value = "closing", .help = "Closing connections evicted because the table was full.",
	 .advice = "Increase --max-flows, or reduce --time-wait and --tcp-closing-idle."},
	{.group = "flow.", .name = "evicted-udp", FIELD(flows.evicted_udp), .metric = "evictions_total",
	 .label = "reason", .label_value = "udp", .help = "UDP streams evicted because the table was full.",
	 .advice = "Increase --max-flows, or reduce --udp-idle."},
	{.group = "flow.", .name = "evicted-idle", FIELD(flows.evicted_idle), .metric = "evictions_total",
	 .label = "reason", .label_value = "idle", .help = "Idle connections evicted because the table was full.",
	 .advice = "Increase --max-flows, or reduce --tcp-idle."},
	{.group = "flow.", .name = "evicted-oldest", FIELD(flows.evicted_oldest), .metric = "evictions_total",
	 .label = "reason", .label_value = "oldest",
	 .help = "Connections in use, the oldest first, evicted because the table was full of them.",
	 .advice = "Increase --max-flows."},
	{.group = "flow.", .name = "evicted-crowded", FIELD(flows.evicted_crowded), .metric = "evictions_total",
	 .label = "reason", .label_value = "crowded",
	 .help = "Connections evicted although the table was not full, because too many addresses and ports hash to "
		 "one part of it.",
	 .advice = "This does not happen by chance: an attack on the hash is likely.  Restart netobsd, which chooses "
		   "another seed."},
	{.group = "flow.", .name = "sctp-unrecorded", FIELD(sctp_addr_table_full), IF_USED(sctp_addr_table_full),
	 EXPORTED(IF_USED),
	 .metric = "sctp_unrecorded_endpoints_total",
	 .help = "Endpoints of SCTP associations whose addresses were not recorded, because the memory for addresses "
		 "was full: packets on another path of a multi-homed association are a connection of their own.",
	 .advice = "Increase --max-flows."},
	{.element_name = counters_tcp_state_name, .end = TCP_STATE_COUNT, .variable = "state", FIELD(states.tcp),
	 .condition = COUNTER_IN_METRICS_ONLY, .type = COUNTER_GAUGE,
	 .metric = "connections_by_state", .label = "proto=\"tcp\",state",
	 .metric_help = "Connections by the state of their local end; a count may be a few seconds old.",
	 .help = "TCP connections by the state of their local end; a count may be a few seconds old."},
	{.element_name = counters_sctp_state_name, .end = SCTP_STATE_COUNT, .variable = "state", FIELD(states.sctp),
	 .condition = COUNTER_IN_METRICS_ONLY, EXPORTED(IF_USED),
	 .used_offset = offsetof(struct stats_totals, states.sctp_seen),
	 .type = COUNTER_GAUGE,
	 .metric = "connections_by_state", .label = "proto=\"sctp\",state",
	 .help = "SCTP associations by the state of their local end."},
	{.name = "stream", FIELD(states.udp), .condition = COUNTER_IN_METRICS_ONLY, .type = COUNTER_GAUGE,
	 .metric = "connections_by_state", .label = "proto=\"udp\",state", .help = "UDP streams."},

	{.group = "ended.tcp.", FIELD(records.ended[FLOW_TCP]), IF_NONZERO,
	 ELEMENTS(RECORD_FIN, RECORD_CAPTURE_END, counters_reason_name, "reason"),
	 .metric = "connections_ended_total", .label = "proto=\"tcp\",reason",
	 .metric_help = "Connections and UDP streams that have ended, by reason (cr_reason of netobs(7)).",
	 .help = "TCP connections that have ended, by reason: fin, reset-by-client, reset-by-server, refused, "
		 "unreachable (an ICMP error), no-answer (the attempt timed out), idle or evicted; see cr_reason in "
		 "netobs(7).",
	 .advice = "Many of refused: a service is down, or a scan.  Many of no-answer: a host is down, a firewall "
		   "drops packets, or a SYN flood."},
	{.group = "ended.udp.", FIELD(records.ended[FLOW_UDP]), IF_NONZERO,
	 ELEMENTS(RECORD_IDLE, RECORD_CAPTURE_END, counters_reason_name, "reason"),
	 .metric = "connections_ended_total", .label = "proto=\"udp\",reason",
	 .help = "UDP streams that have ended, by reason: idle or evicted."},
	{.group = "ended.sctp.", FIELD(records.ended[FLOW_SCTP]), IF_NONZERO, EXPORTED(IF_NONZERO),
	 ELEMENTS(RECORD_FIN, RECORD_CAPTURE_END, counters_reason_name, "reason"),
	 .metric = "connections_ended_total", .label = "proto=\"sctp\",reason",
	 .help = "SCTP associations that have ended, by reason, as for TCP."},
	{.group = "ended.tcp.", .name = "capture-end", FIELD(records.ended[FLOW_TCP][RECORD_CAPTURE_END]),
	 IF_NONZERO, .help = "TCP connections that were open at the end of the capture."},
	{.group = "ended.udp.", .name = "capture-end", FIELD(records.ended[FLOW_UDP][RECORD_CAPTURE_END]),
	 IF_NONZERO, .help = "UDP streams that were open at the end of the capture."},
	{.group = "ended.sctp.", .name = "capture-end", FIELD(records.ended[FLOW_SCTP][RECORD_CAPTURE_END]),
	 IF_NONZERO, .help = "SCTP associations that were open at the end of the capture."},
	{.group = "attempts.", .name = "unanswered", FIELD(records.unanswered), IF_NONZERO,
	 .metric = "tcp_attempts_unanswered_total",
	 .help = "Attempts to open a TCP connection without an answer, counted when the SYN is sent for the third "
		 "time, or else when the attempt times out.",
	 .advice = "A host is down, a firewall drops packets, or the accept queue of a server is full."},
	{.group = "reset.client.", FIELD(records.resets[0]), IF_NONZERO, EXPORTED(IF_NONZERO),
	 ELEMENTS(0, TCP_STATE_COUNT, counters_tcp_state_name, "state"),
	 .metric = "tcp_resets_total", .label = "side=\"client\",state",
	 .metric_help = "TCP connections that an end has reset, by that end and its state before.",
	 .help = "TCP connections that the client has reset, by its state before; without refused attempts."},
	{.group = "reset.server.", FIELD(records.resets[1]), IF_NONZERO, EXPORTED(IF_NONZERO),
	 ELEMENTS(0, TCP_STATE_COUNT, counters_tcp_state_name, "state"),
	 .metric = "tcp_resets_total", .label = "side=\"server\",state",
	 .help = "TCP connections that the server has reset, by its state before; without refused attempts."},
	{.group = "zero-window.", .name = "client", FIELD(records.zero_windows[0]), IF_NONZERO,
	 .metric = "tcp_zero_windows_total", .label = "side",
	 .metric_help = "Times that an end of a TCP connection has closed its window, by end.",
	 .help = "Times that the client of a TCP connection has closed its window.",
	 .advice = "Its program does not read what it receives."},
	{.group = "zero-window.", .name = "server", FIELD(records.zero_windows[1]), IF_NONZERO,
	 .metric = "tcp_zero_windows_total", .label = "side",
	 .help = "Times that the server of a TCP connection has closed its window.",
	 .advice = "Its program does not read what it receives: it is overloaded, or waits for something else."},
	{.group = "handshake.", HISTOGRAM(handshake), .metric = "tcp_handshake_seconds",
	 .metric_help = "Time from the SYN of a TCP connection to the ACK of the SYN,ACK.",
	 .help = "TCP connections by the time from the SYN to the ACK of the SYN,ACK."},
	{.group = "handshake.", HISTOGRAM_SUM(handshake), .help = "Sum of these times, in microseconds."},
	{.group = "rtt.", HISTOGRAM(rtt), .metric = "tcp_rtt_seconds",
	 .metric_help = "Time from the capture of a TCP segment to that of its ACK.",
	 .help = "Round trips of TCP by the time from the capture of a segment to that of its ACK."},
	{.group = "rtt.", HISTOGRAM_SUM(rtt), .help = "Sum of these times, in microseconds."},
	{.group = "answer.", HISTOGRAM(answer), .metric = "answer_seconds",
	 .metric_help = "Time from the last byte of a request to the first byte of its answer.",
	 .help = "Requests by the time from their last byte to the first byte of their answer."},
	{.group = "answer.", HISTOGRAM_SUM(answer), .help = "Sum of these times, in microseconds."},

	{.group = "reassembly.", .name = "datagrams", FIELD(fragments.datagrams), IF_USED(fragments.fragments),
	 .metric = "reassembly_datagrams", .type = COUNTER_GAUGE, .help = "Datagrams waiting for fragments."},
	{.group = "reassembly.", .name = "bytes", FIELD(fragments.bytes), IF_USED(fragments.fragments),
	 .metric = "reassembly_bytes", .type = COUNTER_GAUGE, .help = "Bytes of fragments held."},
	{.group = "reassembly.", .name = "fragments", FIELD(fragments.fragments), IF_USED(fragments.fragments),
	 .metric = "reassembly_fragments_total", .help = "IP fragments received."},
	{.group = "reassembly.", .name = "whole", FIELD(fragments.completed), IF_USED(fragments.fragments),
	 .metric = "reassembly_whole_total", .help = "Datagrams reassembled."},
	{.group = "reassembly.", .name = "truncated", FIELD(fragments.incomplete), IF_USED(fragments.fragments),
	 .metric = "reassembly_truncated_total", .help = "Reassembled datagrams of which not all bytes are captured.",
	 .advice = "Increase --snapshot-length."},
	{.group = "reassembly.", .name = "duplicate", FIELD(fragments.duplicates), IF_USED(fragments.fragments),
	 .metric = "reassembly_ignored_fragments_total", .label = "reason",
	 .metric_help = "Fragments that contributed nothing, by reason.",
	 .help = "Fragments that were received before."},
	{.group = "reassembly.", .name = "refused", FIELD(fragments.refused), IF_USED(fragments.fragments),
	 .metric = "reassembly_ignored_fragments_total", .label = "reason",
	 .help = "Fragments that cannot belong to any datagram; their anomaly is the reason."},
	{.group = "reassembly.", .name = "discarded", FIELD(fragments.discarded), IF_USED(fragments.fragments),
	 .metric = "reassembly_ignored_fragments_total", .label = "reason",
	 .help = "Fragments of datagrams that were discarded before."},
	{.group = "reassembly.", .name = "failed-overlap", FIELD(fragments.overlaps), IF_USED(fragments.fragments),
	 .metric = "reassembly_failures_total", .label = "reason", .label_value = "overlap",
	 .metric_help = "Datagrams that could not be reassembled, by reason.",
	 .help = "Datagrams discarded because fragments overlap.",
	 .advice = "Hosts do not send such fragments: an attempt at evasion is likely."},
	{.group = "reassembly.", .name = "failed-end", FIELD(fragments.end_conflicts), IF_USED(fragments.fragments),
	 .metric = "reassembly_failures_total", .label = "reason", .label_value = "end",
	 .help = "Datagrams discarded because fragments disagree about the end.",
	 .advice = "As for overlaps."},
	{.group = "reassembly.", .name = "failed-crowded", FIELD(fragments.too_many_fragments),
	 IF_USED(fragments.fragments),
	 .metric = "reassembly_failures_total", .label = "reason", .label_value = "crowded",
	 .help = "Datagrams discarded because of too many fragments."},
	{.group = "reassembly.", .name = "failed-timeout", FIELD(fragments.timeouts), IF_USED(fragments.fragments),
	 .metric = "reassembly_failures_total", .label = "reason", .label_value = "timeout",
	 .help = "Datagrams whose fragments did not all arrive in time.",
	 .advice = "Fragments are lost on the way, or take another path."},
	{.group = "reassembly.", .name = "failed-evicted", FIELD(fragments.evicted), IF_USED(fragments.fragments),
	 .metric = "reassembly_failures_total", .label = "reason", .label_value = "evicted",
	 .help = "Datagrams given up because the memory for fragments was full.",
	 .advice = "Many of them: probably a flood of fragments."},

	{.group = "conversation.", .name = "now", FIELD(app_flows.active), OF_APPS,
	 .metric = "conversations", .type = COUNTER_GAUGE,
	 .help = "Connections that an application provider (such as iSCSI) reads now."},
	{.group = "conversation.", .name = "begun", FIELD(app_flows.begun), IF_USED(app_flows.begun),
	 EXPORTED(WITH_APPS),
	 .metric = "conversations_begun_total", .help = "Connections that an application provider has read."},
	{.group = "conversation.", .name = "midstream", FIELD(app_flows.midstream), OF_APPS,
	 .metric = "conversations_midstream_total",
	 .help = "Directions of connections that an application provider picked up in mid-stream."},
	{.group = "conversation.", .name = "unread", FIELD(app_flows.unread), IF_USED(app_flows.unread),
	 EXPORTED(WITH_APPS),
	 .metric = "conversations_unread", .type = COUNTER_GAUGE,
	 .help = "Connections on the ports of application providers of which no message was read so far, because their "
		 "beginning, or one of their directions, is not captured."},
	{.group = "conversation.", .name = "evicted", FIELD(app_flows.evicted), OF_APPS,
	 .metric = "conversations_evicted_total",
	 .help = "Connections that an application provider stopped reading to make room: each reads a limited number "
		 "at once (netobs(7)), and the one that has been idle longest is evicted."},
	{.group = "conversation.", .name = "evicted-unconfirmed", FIELD(app_flows.evicted_unconfirmed),
	 OF_APPS, .metric = "conversations_evicted_unconfirmed_total",
	 .help = "Like conversation.evicted, connections of which not both ends had sent a complete message: at most "
		 "half of all may be, and an eighth of clients with one /24 of IPv4 or one /64 of IPv6 addresses.",
	 .advice = "Many of them: probably a flood of connections to the port of the protocol."},

	{.group = "conversation.", .name = "cut", FIELD(app_flows.cut), IF_USED(app_flows.cut), EXPORTED(WITH_APPS),
	 .metric = "conversations_cut_packets_total",
	 .help = "Segments and datagrams that an application provider read and whose end the snapshot length has cut "
		 "off.",
	 .advice = "Messages are missing, or some of their fields are: increase --snapshot-length."},

	{.group = "stream.", .name = "bytes", FIELD(streams.bytes), OF_APPS,
	 .metric = "stream_bytes_total", .help = "Bytes of connections that an application provider read in order."},
	{.group = "stream.", .name = "gaps", FIELD(streams.gaps), OF_APPS,
	 .metric = "stream_gaps_total", .help = "Gaps in the streams that an application provider reads.",
	 .advice = "Frames were dropped, or truncated by the snapshot length."},
	{.group = "stream.", .name = "missing-bytes", FIELD(streams.missing), OF_APPS,
	 .metric = "stream_missing_bytes_total", .help = "Bytes missing in these streams."},
	{.group = "stream.", .name = "early-segments", FIELD(streams.out_of_order), OF_APPS,
	 .metric = "stream_early_segments_total",
	 .help = "Out-of-order segments of streams, held until the bytes before them arrive.  At most 4 MiB are held "
		 "in all, and 256 KiB for one direction."},
	{.group = "stream.", .name = "held", FIELD(streams.held), IF_USED(streams.held), EXPORTED(WITH_APPS),
	 .metric = "stream_held_total",
	 .help = "Segments of streams held because they acknowledge bytes that were not captured yet: one direction is "
		 "captured late."},
	{.group = "stream.", .name = "unheld", FIELD(streams.unheld), IF_USED(streams.unheld), EXPORTED(WITH_APPS),
	 .metric = "stream_unheld_total",
	 .help = "Times that these bytes did not come within a second, or that a limit was reached before."},
	{.group = "stream.", .name = "undelivered", FIELD(streams.undelivered), IF_USED(streams.undelivered),
	 EXPORTED(WITH_APPS), .metric = "stream_undelivered_total",
	 .help = "Segments of streams that were still held when their connection was no longer read, or at the end: "
		 "bytes before them did not come."},
	{.group = "stream.", .name = "repeated-bytes", FIELD(streams.repeated), OF_APPS,
	 .metric = "stream_repeated_bytes_total", .help = "Bytes of streams received again."},
	{.group = "stream.", .name = "incomparable-bytes", FIELD(streams.uncompared), OF_APPS,
	 .metric = "stream_incomparable_bytes_total",
	 .help = "Bytes of streams received again too late to be compared with their first copy."},
	{.group = "stream.", .name = "differing-segments", FIELD(streams.differing), OF_APPS,
	 .metric = "stream_differing_segments_total", .help = "Segments of streams that differ from their first copy.",
	 .advice = "TCP does not send such segments: an attempt at evasion is likely."},
	{.group = "stream.", .name = "crowded-gaps", FIELD(streams.limit_gaps), OF_APPS,
	 .metric = "stream_crowded_gaps_total",
	 .help = "Gaps in streams given up because a limit of out-of-order segments was reached."},
	{.group = "stream.", .name = "evicted", FIELD(streams.evicted_queues), OF_APPS,
	 .metric = "stream_evicted_total",
	 .help = "Streams whose out-of-order segments were discarded because a limit was reached."},
	{.group = "stream.", .name = "unkept", FIELD(streams.unkept), IF_USED(streams.unkept), EXPORTED(WITH_APPS),
	 .metric = "stream_unkept_total",
	 .help = "Segments at the beginning of connections for which no memory was left until their reader was known."},

	{.group = "request.", .name = "now", FIELD(app_requests.now), IF_USED(app_requests.begun), EXPORTED(WITH_APPS),
	 .metric = "app_requests", .type = COUNTER_GAUGE, .help = "DNS queries that wait for their response now."},
	{.group = "request.", .name = "begun", FIELD(app_requests.begun), IF_USED(app_requests.begun),
	 EXPORTED(WITH_APPS), .metric = "app_requests_begun_total",
	 .help = "DNS queries captured while a dns probe was enabled, retries not counted."},
	{.group = "request.", .name = "answered", FIELD(app_requests.answered), IF_USED(app_requests.begun),
	 EXPORTED(WITH_APPS), .metric = "app_requests_answered_total", .help = "DNS queries that were answered."},
	{.group = "request.", .name = "timed-out", FIELD(app_requests.timed_out), IF_USED(app_requests.begun),
	 EXPORTED(WITH_APPS), .metric = "app_requests_timed_out_total",
	 .help = "DNS queries that were not answered within --app-timeout."},
	{.group = "request.", .name = "evicted", FIELD(app_requests.evicted), IF_USED(app_requests.begun),
	 EXPORTED(WITH_APPS), .metric = "app_requests_evicted_total",
	 .help = "DNS queries forgotten to make room: at most 16384 wait at once, and the oldest is evicted.",
	 .advice = "Many of them: probably a flood of queries."},
	{.group = "request.", .name = "forgotten", FIELD(app_requests.forgotten), IF_USED(app_requests.begun),
	 EXPORTED(WITH_APPS), .metric = "app_requests_forgotten_total",
	 .help = "Of request.timed-out, queries whose connection was no longer known: dns-timeout did not fire."},

	{.group = "owner.", .name = "requests", FIELD(owners.requests), IF_USED(owners.requests),
	 EXPORTED(WITH_OWNERS),
	 .metric = "owner_requests_total",
	 .help = "Requested lookups of the process that owns an endpoint."},
	{.group = "owner.", .name = "dropped", FIELD(owners.dropped), OF_OWNERS,
	 .metric = "owner_dropped_requests_total",
	 .help = "Requested lookups dropped because the queue was full; they are repeated when the process is needed.",
	 .advice = "Connections begin faster than they can be looked up; the first events of some lack the process."},
	{.group = "owner.", .name = "answered", FIELD(owners.replies), OF_OWNERS,
	 .metric = "owner_answered_requests_total",
	 .help = "Requested lookups processed, whether or not a process was found."},
	{.group = "owner.", .name = "processes", FIELD(owners.processes), OF_OWNERS,
	 .metric = "owner_results_total", .label = "result", .label_value = "process",
	 .metric_help = "Results of looking for the process that owns an endpoint, by result.",
	 .help = "Lookups that found a process."},
	{.group = "owner.", .name = "no-socket", FIELD(owners.no_socket), OF_OWNERS,
	 .metric = "owner_results_total", .label = "result",
	 .help = "Lookups that found no socket: it is closed already, or belongs to another network namespace or to "
		 "another host."},
	{.group = "owner.", .name = "no-process", FIELD(owners.no_process), OF_OWNERS,
	 .metric = "owner_results_total", .label = "result",
	 .help = "Lookups that found a socket but no visible process that holds it.",
	 .advice = "If owner.unreadable is not 0, --all-owners helps."},
	{.group = "owner.", .name = "unaccepted", FIELD(owners.unaccepted), OF_OWNERS,
	 .metric = "owner_unaccepted_total",
	 .help = "Lookups that found only the listening process, because no process had accepted the connection yet."},
	{.group = "owner.", .name = "refreshed", FIELD(owners.refreshed), OF_OWNERS,
	 .metric = "owner_refreshes_total", .help = "Known sockets that were queried again."},
	{.group = "owner.", .name = "refresh-late", FIELD(owners.refresh_late), OF_OWNERS,
	 .metric = "owner_late_refreshes_total",
	 .help = "Rounds of refreshing known sockets that took longer than 100 milliseconds.",
	 .advice = "Processes and kernel values in arguments may be older than that."},
	{.group = "owner.", .name = "evicted", FIELD(owners.evicted), OF_OWNERS,
	 .metric = "owner_evicted_total", .help = "Endpoints whose process was evicted because the table was full."},
	{.group = "owner.", .name = "torn-reads", FIELD(owners.torn_reads), OF_OWNERS,
	 .metric = "owner_torn_reads_total",
	 .help = "Results of lookups not used because they were being written."},
	{.group = "owner.", .name = "scans", FIELD(owners.scans), OF_OWNERS,
	 .metric = "owner_scans_total", .help = "Scans of /proc for processes that hold a socket."},
	{.group = "owner.", .name = "scan-links", FIELD(owners.scan_links), OF_OWNERS,
	 .metric = "owner_scan_links_total", .help = "File descriptors examined in scans of /proc."},
	{.group = "owner.", .name = "dumps", FIELD(owners.dumps), OF_OWNERS,
	 .metric = "owner_dumps_total", .help = "Dumps of whole socket tables of the kernel."},
	{.group = "owner.", .name = "errors", FIELD(owners.errors), OF_OWNERS,
	 .metric = "owner_errors_total", .help = "Queries for sockets that the kernel refused or did not answer."},
	{.group = "owner.", .name = "unreadable", FIELD(owners.unreadable), OF_OWNERS,
	 .metric = "owner_unreadable_processes", .type = COUNTER_GAUGE,
	 .help = "Processes that the latest complete scan of /proc had no permission to examine.",
	 .advice = "They belong to other users: --all-owners permits it."},

	{.group = "checksum.", .name = "ok", FIELD(checksums[CHECKSUM_OK]), .metric = "checksums_total",
	 .label = "verdict",
	 .metric_help = "Transport checksums of packets for which a probe fired, by verdict.",
	 .help = "Packets for which a probe fired and whose transport checksum is right."},
	{.group = "checksum.", .name = "bad", FIELD(checksums[CHECKSUM_BAD]), .metric = "checksums_total",
	 .label = "verdict", .help = "Packets whose transport checksum is wrong."},
	{.group = "checksum.", .name = "partial", FIELD(checksums[CHECKSUM_PARTIAL]), .metric = "checksums_total",
	 .label = "verdict", .help = "Packets whose transport checksum is left to the interface to complete."},
	{.group = "checksum.", .name = "unverified", FIELD(checksums[CHECKSUM_UNVERIFIED]), .metric = "checksums_total",
	 .label = "verdict", .help = "Packets whose transport checksum cannot be verified, such as truncated ones."},

	{.group = "probe.", FIELD(fired), IF_NONZERO, EXPORTED(IF_NONZERO),
	 ELEMENTS(0, PROBE_COUNT, counters_probe_name, "name"),
	 .metric = "probe_firings_total", .label = "probe", .help = "Firings of each probe."},
};
/* clang-format on */

const size_t counters_table_rows = sizeof counters_table / sizeof counters_table[0];

/* -------------------------------------------------------------------------------------------------------- visiting */

const char *
counter_row_name(const struct counter_row *row, unsigned index)
{
	return row->element_name != NULL ? row->element_name(index) : row->name;
}

static uint64_t
counters_read(const struct stats_totals *totals, size_t offset, unsigned index)
{
	return ((const uint64_t *)(const void *)((const char *)totals + offset))[index];
}

uint64_t
counter_row_value(const struct counter_row *row, unsigned index, const struct stats_totals *totals)
{
	return counters_read(totals, row->offset, index);
}

const struct record_histogram *
counter_row_histogram(const struct counter_row *row, const struct stats_totals *totals)
{
	return (const struct record_histogram *)(const void *)((const char *)totals + row->offset);
}

static bool
counter_row_is_shown(const struct counter_row *row, unsigned index, const struct stats_totals *totals)
{
	switch (row->condition) {
	case COUNTER_IF_NONZERO:
		return counters_read(totals, row->offset, index) > 0;
	case COUNTER_IF_USED:
		return counters_read(totals, row->used_offset, 0) > 0;
	case COUNTER_IN_METRICS_ONLY:
		return false;
	case COUNTER_ALWAYS:
		break;
	}
	return true;
}

static bool
counters_include_any(const struct config *config)
{
	for (const char **name = config->interface_names; *name != NULL; name++)
		if (strcmp(*name, "any") == 0)
			return true;
	return false;
}

static bool
counters_have_apps(const struct config *config)
{
	for (unsigned i = 0; i < APP_COUNT; i++)
		if (config->app_ports[i].count > 0)
			return true;
	return false;
}

bool
counter_row_is_exported(const struct counter_row *row, unsigned index, const struct stats_totals *totals,
			const struct config *config)
{
	switch (row->exported) {
	case EXPORT_WITH_ANY:
		return counters_include_any(config);
	case EXPORT_WITH_PRINT:
		return config->print != PRINT_OFF;
	case EXPORT_WITH_OWNERS:
		return config->lookup_owners;
	case EXPORT_WITH_APPS:
		return counters_have_apps(config);
	case EXPORT_IF_USED:
		return counters_read(totals, row->used_offset, 0) > 0;
	case EXPORT_IF_NONZERO:
		return counters_read(totals, row->offset, index) > 0;
	case EXPORT_ALWAYS:
		break;
	}
	return true;
}

void
counters_visit(const struct stats_totals *totals, counter_visitor *visit, void *context)
{
	for (size_t i = 0; i < counters_table_rows; i++) {
		const struct counter_row *row = &counters_table[i];

		for (unsigned index = row->first; index < counter_row_end(row); index++)
			if (counter_row_is_shown(row, index, totals))
				visit(context, row->group, counter_row_name(row, index),
				      counter_row_value(row, index, totals));
	}
}

/* ------------------------------------------------------------------------------------------------------ the summary */

/* Longest wait at the end of a run for the reader of standard error. */
#define SUMMARY_WAIT_MS 200

static void
summary_write_line(void *to, const char *group, const char *name, uint64_t value)
{
	fprintf(to, "%s%s %llu\n", group, name, (unsigned long long)value);
}

static void
summary_write_formulas(void *to, struct workers *workers)
{
	workers_pause(workers);
	for (unsigned i = 0; workers->formulas != NULL && i < formula_set_count(workers->formulas); i++) {
		struct formula_status status = formula_set_status(workers->formulas, i);

		fprintf(to, "formula.%s.seen %llu\nformula.%s.matched %llu\n", formula_name(status.formula),
			(unsigned long long)status.seen, formula_name(status.formula),
			(unsigned long long)status.matched);
	}
	workers_resume(workers);
}

/* The counters as text, to be freed; NULL, with a message logged, if out of memory. */
static char *
summary_make_text(struct workers *workers, size_t *size)
{
	struct stats_totals totals;
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	if (to != NULL) {
		stats_collect(workers, &totals);
		counters_visit(&totals, summary_write_line, to);
		summary_write_formulas(to, workers);
		fprintf(to, "probe-site %s\n", site_kind_name(site_selected()));
	}
	if (to != NULL && fclose(to) == 0)
		return text;
	free(text);
	log_warning("out of memory");
	return NULL;
}

bool
summary_write(struct workers *workers)
{
	size_t size = 0, written = 0;
	char *text = summary_make_text(workers, &size);
	bool good;

	if (text == NULL)
		return false;
	progress_erase();
	errno = 0;
	written = output_write_within(output_fd(OUTPUT_STDERR), text, size, SUMMARY_WAIT_MS);
	good = written == size || errno == EPIPE;
	free(text);
	return good;
}

void
summary_write_now(struct workers *workers)
{
	size_t size = 0;
	char *text = summary_make_text(workers, &size);

	if (text != NULL)
		log_write_lines(text);
	free(text);
}
