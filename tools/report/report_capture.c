/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_capture.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_lines.h"

/* Segments of LONG_REQUEST bytes or more that follow each other within LONG_REQUEST_NS are one request. */
#define LONG_REQUEST	512u
#define LONG_REQUEST_NS 500000000u

/* A query that is sent again times out again within this time, ns. */
#define DNS_REPEATS_NS 60000000000u

static void
report_frames_add(struct report_capture *capture, uint64_t packet)
{
	struct report_frames *frames = &capture->frames;

	if (frames->count == frames->capacity) {
		size_t capacity = frames->capacity == 0 ? 65536 : 2 * frames->capacity;
		uint64_t *packets = reallocarray(frames->packets, capacity, sizeof(*packets));

		if (packets == NULL) {
			capture->no_memory = true;
			return;
		}
		frames->packets = packets;
		frames->capacity = capacity;
	}
	frames->packets[frames->count++] = packet;
}

/* The events of the end that the next cs_cid of the line names; NULL without one. */
static struct report_end_events *
report_read_end(struct report_capture *capture, struct report_line *line)
{
	int64_t cid = report_line_number(line, "cs_cid", -1);
	struct report_end_events *end = report_ends_add(&capture->ends, cid);

	capture->no_memory |= end == NULL && cid > 0;
	return end;
}

static void
report_read_frame(struct report_capture *capture, struct report_line *line)
{
	capture->packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	capture->time = (uint64_t)report_line_number(line, "pkt_ts", 0);
	report_frames_add(capture, capture->packet);
	report_volume_frame(&capture->volume, capture->time, (uint64_t)report_line_number(line, "pkt_len", 0));
}

/* The first IP packet of the frame says which protocol the frame belongs to; packets of a tunnel have other ids. */
static void
report_read_ip(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);

	if (packet != capture->packet)
		return;
	capture->packet = 0;
	report_volume_protocol(&capture->volume,
			       report_duplicates_ip(&capture->duplicates, line, packet, capture->time));
}

/* The next header of the fixed header of IPv6 may be that of an extension header. */
static void
report_read_extended(struct report_capture *capture, struct report_line *line)
{
	const struct report_frames *frames = &capture->frames;
	unsigned number = IPPROTO_TCP;

	if (report_line_is(line, "report-extended-icmp"))
		number = IPPROTO_ICMPV6;
	else if (report_line_is(line, "report-extended-udp"))
		number = IPPROTO_UDP;
	if (frames->count > 0 &&
	    (uint64_t)report_line_number(line, "pkt_addr", 0) == frames->packets[frames->count - 1])
		report_volume_protocol(&capture->volume, number);
}

static void
report_read_event(struct report_capture *capture, struct report_line *line, enum report_event event)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	struct report_end_events *end = report_read_end(capture, line);

	if (end != NULL && end->packets[event] == 0)
		end->packets[event] = packet;
}

/* Counts a retransmission that follows another one directly, or starts to count. */
static void
report_count_repeat(struct report_repeats *repeats, const struct report_repeats *latest)
{
	uint64_t count = repeats->count;

	if (count == 0 || latest->segments != repeats->segments + 1 || latest->received != repeats->received) {
		*repeats = *latest;
		count = 0;
	}
	repeats->count = count + 1;
	repeats->segments = latest->segments;
	repeats->last = latest->time;
}

static void
report_read_retransmission(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	struct report_end_events *end = report_read_end(capture, line);
	struct report_repeats latest = {.packet = packet};
	char kind[16];

	if (end == NULL)
		return;
	if (end->packets[REPORT_RESENT] == 0)
		end->packets[REPORT_RESENT] = packet;
	latest.time = (uint64_t)report_line_number(line, "cs_ts", 0);
	latest.segments = (uint64_t)report_line_number(line, "tcps_snd_segs", 0);
	latest.received = (uint64_t)report_line_number(line, "tcps_rcv_segs", 0);
	report_line_text(line, "tcpr_kindstr", kind, sizeof(kind));
	if (strcmp(kind, "spurious") == 0) {
		/* It may follow a row of others, of which it is no part. */
		if (latest.segments == end->repeats.segments + 1 && latest.received == end->repeats.received)
			end->repeats.segments++;
		return;
	}
	report_count_repeat(&end->repeats, &latest);
	if (strcmp(kind, "syn") == 0)
		end->syn_again = (struct report_opening){packet, latest.time, latest.received};
	else
		end->resends = true;
}

/* A segment that shows that its sender's window is closed, or a RST, which shows no window. */
static void
report_read_closed_window(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0), time, segments;
	struct report_end_events *end = report_read_end(capture, line);
	bool reset;

	if (end == NULL)
		return;
	time = (uint64_t)report_line_number(line, "cs_ts", 0);
	segments = (uint64_t)report_line_number(line, "tcps_snd_segs", 0);
	reset = (report_line_number(line, "tcp_flags", 0) & REPORT_FLAG_RST) != 0;
	if (end->closed_packet == 0 || end->closed_segments + 1 != segments) {
		if (reset)
			return;
		end->closed_packet = packet;
		end->closed_time = time;
	}
	end->closed_segments = segments;
	if (!reset && end->packets[REPORT_ZERO_WINDOW] == 0)
		end->packets[REPORT_ZERO_WINDOW] = packet;
}

/* A segment that acknowledges more than its peer was captured sending. */
static void
report_read_missing(struct report_capture *capture, struct report_line *line)
{
	struct report_end_events *end = report_read_end(capture, line);
	uint32_t first, acknowledged;

	if (end == NULL)
		return;
	first = (uint32_t)report_line_number(line, "tcps_irs", 0) + 1;
	acknowledged = (uint32_t)report_line_number(line, "tcps_rack", 0);
	end->missing = acknowledged - first - (uint32_t)report_line_number(line, "tcps_rcv_bytes", 0);
	end->missing_segments = (uint64_t)report_line_number(line, "tcps_snd_segs", 0);
}

/* The first data of a server, late and before any data of the client. */
static void
report_read_greeting(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0), now, start;
	struct report_end_events *end = report_read_end(capture, line);

	if (end == NULL || end->packets[REPORT_GREETING] != 0)
		return;
	now = (uint64_t)report_line_number(line, "cs_ts", 0);
	start = (uint64_t)report_line_number(line, "tcps_start", 0);
	end->packets[REPORT_GREETING] = packet;
	end->greeting_us = now > start ? (now - start) / 1000 : 0;
}

/* Whether data is a request of its own: the server has sent an ACK before it, and it is no part of a long request. */
static bool
report_is_next_request(const struct report_request_event *before, const struct report_request_event *next)
{
	return next->segments != before->segments &&
	       (next->length < LONG_REQUEST || next->time >= before->time + LONG_REQUEST_NS);
}

static void
report_read_request(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	struct report_end_events *end = report_read_end(capture, line);
	struct report_request_event request = {.packet = packet, .row = 1};

	if (end == NULL)
		return;
	request.time = (uint64_t)report_line_number(line, "cs_ts", 0);
	request.received = (uint64_t)report_line_number(line, "tcps_rcv_bytes", 0);
	request.segments = (uint64_t)report_line_number(line, "tcps_rcv_segs", 0);
	request.length = (uint32_t)report_line_number(line, "tcp_payload", 0);
	request.first = request.time;
	if (end->request.packet != 0 && request.received == end->request.received) {
		request.row = end->request.row + report_is_next_request(&end->request, &request);
		request.first = end->request.first;
		if (request.row > 1 && request.time > request.first && request.time - request.first > end->queued_ns)
			end->queued_ns = request.time - request.first;
	}
	end->request = request;
}

static void
report_read_finish(struct report_capture *capture, struct report_line *line)
{
	struct report_end_events *end = report_read_end(capture, line);

	if (end != NULL && end->finish_time == 0)
		end->finish_time = (uint64_t)report_line_number(line, "cs_ts", 0);
}

static void
report_read_syn_ack(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	struct report_end_events *end = report_read_end(capture, line);

	if (end == NULL || end->syn_ack.packet != 0)
		return;
	end->syn_ack.packet = packet;
	end->syn_ack.time = (uint64_t)report_line_number(line, "cs_ts", 0);
}

/* An ICMP error that a packet of an end was not delivered. */
static void
report_read_unreachable(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	char sender[INET6_ADDRSTRLEN];
	struct report_end_events *end;
	uint8_t type;

	report_line_text(line, "ip_saddr", sender, sizeof(sender));
	end = report_read_end(capture, line);
	if (end == NULL || end->packets[REPORT_UNREACHABLE] != 0)
		return;
	end->packets[REPORT_UNREACHABLE] = packet;
	type = (uint8_t)report_line_number(line, "icmp_type", 0);
	report_rejection_set(&end->rejection, type, (uint8_t)report_line_number(line, "icmp_code", 0), sender);
}

/* Whether the query timed out before, too. */
static bool
report_is_timeout_known(struct report_unanswered *dns, const struct report_timeout *timeout)
{
	size_t slot = (timeout->cid * 65536 + timeout->id) * 0x9e3779b97f4a7c15u >> 32 & (REPORT_TIMEOUTS - 1);
	struct report_timeout before = dns->timeouts[slot];

	dns->timeouts[slot] = *timeout;
	return before.cid == timeout->cid && before.id == timeout->id && timeout->time < before.time + DNS_REPEATS_NS;
}

static void
report_read_query(struct report_capture *capture, struct report_line *line)
{
	struct report_unanswered *dns = &capture->dns;
	struct report_timeout timeout;
	struct report_query *query;

	timeout.cid = (uint64_t)report_line_number(line, "ci_cid", 0);
	timeout.time = (uint64_t)report_line_number(line, "ci_ts", 0);
	timeout.id = (uint16_t)report_line_number(line, "dns_id", 0);
	if (report_is_timeout_known(dns, &timeout) || dns->count++ >= REPORT_EVIDENCE)
		return;
	query = &dns->first[dns->count - 1];
	query->cid = timeout.cid;
	query->time = timeout.time;
	query->id = timeout.id;
}

static void
report_read_record(struct report_capture *capture, struct report_line *line)
{
	if (!report_records_add(&capture->records, line))
		capture->no_memory = true;
}

static void
report_read_reset(struct report_capture *capture, struct report_line *line)
{
	report_read_event(capture, line, REPORT_RESET);
}

static void
report_read_opening(struct report_capture *capture, struct report_line *line)
{
	report_read_event(capture, line, REPORT_OPENED);
}

/* The latest ICMP error that a packet of an end was too big for the path. */
static void
report_read_too_big(struct report_capture *capture, struct report_line *line)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	struct report_end_events *end = report_read_end(capture, line);

	if (end == NULL)
		return;
	end->too_big_packet = packet;
	end->too_big_time = (uint64_t)report_line_number(line, "cs_ts", 0);
}

static void
report_read_segment(struct report_capture *capture, struct report_line *line)
{
	report_duplicates_segment(&capture->duplicates, line);
}

static void
report_read_datagram(struct report_capture *capture, struct report_line *line)
{
	report_duplicates_datagram(&capture->duplicates, line);
}

static void
report_read_line(const char *text, size_t length, void *context)
{
	/* The most frequent probes first.  With the quote a word is the whole name, without it the begin of names. */
	static const struct {
		const char *probe;
		void (*read)(struct report_capture *capture, struct report_line *line);
	} lines[] = {
	    {"gld-receive\"", report_read_frame},
	    {"ip-receive\"", report_read_ip},
	    {"connection-end\"", report_read_record},
	    {"tcp-retransmit\"", report_read_retransmission},
	    {"report-request\"", report_read_request},
	    {"report-finish\"", report_read_finish},
	    {"report-syn-ack\"", report_read_syn_ack},
	    {"dns-timeout\"", report_read_query},
	    {"report-unreachable\"", report_read_unreachable},
	    {"report-too-big\"", report_read_too_big},
	    {"report-reset\"", report_read_reset},
	    {"report-refusal\"", report_read_reset},
	    {"report-closed-window\"", report_read_closed_window},
	    {"report-opening\"", report_read_opening},
	    {"report-missing\"", report_read_missing},
	    {"report-greeting\"", report_read_greeting},
	    {"report-plain-segment\"", report_read_segment},
	    {"report-plain-datagram\"", report_read_datagram},
	    {"report-extended-", report_read_extended},
	};
	struct report_line line;

	report_line_begin(&line, text, length);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (report_line_is(&line, lines[i].probe)) {
			lines[i].read(context, &line);
			return;
		}
	}
}

/* A line of standard error: a counter of --summary, or a message, which is passed on. */
static void
report_read_note(const char *line, void *context)
{
	struct report_capture *capture = context;
	unsigned long long value;
	char name[64];

	if (strncmp(line, "netobsd: ", 9) == 0) {
		fprintf(stderr, "netobs-report: %s\n", line + 9);
	} else if (sscanf(line, "%63s %llu", name, &value) == 2) {
		if (strcmp(name, "frames") == 0)
			capture->read = value;
		else if (strcmp(name, "truncated") == 0)
			capture->truncated += value;
		else if (strcmp(name, "anomaly.truncated-record") == 0)
			capture->shortened = value;
		else if (strcmp(name, "capture.dropped") == 0 || strcmp(name, "capture.interface-dropped") == 0)
			capture->dropped += value;
		else if (strcmp(name, "capture.damaged") == 0)
			capture->damaged = value;
		else if (strcmp(name, "capture.unsupported") == 0)
			capture->unsupported = value;
	}
}

void
report_capture_read(struct report_capture *capture, const struct replay_source *source)
{
	/* In the view of both ends the sender of a segment is known. */
	static char print[] = "--print=gld-receive,ip-receive,connection-end,tcp-retransmit,dns-timeout,report-*";
	/* In the order in which the lines are read; the columns of a record as report_records_add() reads them. */
	static char fields[] =
	    "--print-fields=probe,pkt_addr,pkt_ts,pkt_len,"
	    "ip_ver,ip_plength,ip_saddr,ip_daddr,ipv4_ident,ipv4_offset,ipv4_protocol,ipv6_nexthdr,"
	    "cs_cid,cs_ts,ci_cid,ci_ts,dns_id,"
	    "tcps_irs,tcps_rack,tcps_rcv_bytes,tcps_snd_segs,tcps_rcv_segs,tcps_start,tcpr_kindstr,"
	    "tcp_sport,tcp_dport,tcp_seq,tcp_ack,tcp_flags,tcp_window,tcp_payload,tcp_checksum,"
	    "udp_sport,udp_dport,udp_length,udp_checksum,icmp_type,icmp_code,"
	    "cr_client,cr_server,cr_client_port,cr_server_port,cr_client_cid,cr_server_cid,cr_role,cr_protocol,"
	    "cr_start,cr_end,cr_duration_us,cr_client_segments,cr_client_bytes,cr_client_resent,cr_client_zero_windows,"
	    "cr_server_segments,cr_server_bytes,cr_server_resent,cr_server_zero_windows,cr_resent_fast,"
	    "cr_resent_timeout,cr_resent_probe,cr_resent_spurious,cr_resent_syn,cr_zero_window_us,cr_handshake_us,"
	    "cr_rtt_mean_us,cr_exchanges,cr_answer_mean_us,cr_answer_max_us,cr_client_flags,cr_server_flags,cr_reason,"
	    "cr_name,cr_icmp_type,cr_icmp_code,cr_icmp_sender,cr_server_state";
	static char *const more[] = {
	    "--view=both",
	    "--format=json",
	    "--summary",
	    /* The RST of an end closes that end at once, a RST that is not its own does not. */
	    "--formula=report-reset = tcp-send where tcp_flags & RST && tcps_state == closed",
	    /* A port on which nothing listens has no endpoint: its RST has a connection only where it is received. */
	    "--formula=report-refusal = tcp-receive where tcp_flags & RST && tcps_state in {syn-sent, closed}",
	    "--formula=report-closed-window = tcp-send where "
	    "!(tcp_flags & SYN) && (tcp_window == 0 || tcp_flags & RST)",
	    "--formula=report-request = tcp-send where "
	    "tcp_payload > 0 && tcp_flags & PSH && tcps_active == 1 && tcps_retransmit != 1",
	    "--formula=report-finish = tcp-send where tcp_flags & (FIN|RST) && tcps_retransmit != 1",
	    /* But for packets that were too big. */
	    "--formula=report-unreachable = icmp-receive where cs_cid != 0 && "
	    "(icmp_version == 4 && (icmp_type == 3 && icmp_code != 4 || icmp_type in {11..12}) || "
	    "icmp_version == 6 && icmp_type in {1, 3..4})",
	    "--formula=report-too-big = icmp-receive where cs_cid != 0 && "
	    "(icmp_version == 4 && icmp_type == 3 && icmp_code == 4 || icmp_version == 6 && icmp_type == 2)",
	    "--formula=report-syn-ack = tcp-send where "
	    "tcp_flags & SYN && tcp_flags & ACK && tcps_state == syn-received",
	    "--formula=report-opening = tcp-accept-established where cs_ts - tcps_start >= 250ms",
	    /* The FIN of the peer takes a number, too. */
	    "--formula=report-missing = tcp-send where tcps_irs != 0 && "
	    "((tcps_rack - tcps_irs - tcps_rcv_bytes) & 0xffffffff) in {3..0x3fffffff}",
	    "--formula=report-greeting = tcp-send where tcps_active == 0 && tcp_payload > 0 && "
	    "tcps_rcv_bytes == 0 && tcps_snd_bytes == tcp_payload && cs_ts - tcps_start >= 500ms && "
	    "((tcp_ack - tcps_irs) & 0xffffffff) == 1 && tcps_retransmit != 1",
	    "--formula=report-extended-icmp = icmp-receive where ip_ver == 6",
	    "--formula=report-extended-udp = udp-receive where ip_ver == 6 && ip_plength > udp_length",
	    "--formula=report-extended-tcp = "
	    "tcp-receive where ip_ver == 6 && ip_plength > tcp_payload + tcp_offset",
	    "--formula=" REPORT_PLAIN_SEGMENT,
	    "--formula=" REPORT_PLAIN_DATAGRAM,
	    print,
	    fields,
	};

	capture->status = replay_run_netobsd(source, more, sizeof(more) / sizeof(more[0]), report_read_line,
					     report_read_note, capture);
	report_volume_end(&capture->volume);
}

uint64_t
report_capture_frame(const struct report_capture *capture, uint64_t packet)
{
	size_t low = 0, high = capture->frames.count;

	if (packet == 0)
		return 0;
	/* The last frame whose first packet is not after this one. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (capture->frames.packets[middle] <= packet)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t
report_earlier(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

uint64_t
report_capture_event(const struct report_capture *capture, const struct report_record *record, enum report_event event)
{
	if (event == REPORT_EVENTS)
		return 0;
	return report_capture_frame(
	    capture, report_earlier(report_ends_find(&capture->ends, record->ends[REPORT_CLIENT].cid)->packets[event],
				    report_ends_find(&capture->ends, record->ends[REPORT_SERVER].cid)->packets[event]));
}
