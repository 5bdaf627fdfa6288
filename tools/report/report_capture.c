/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_lines.h"

/* Largest connection id of which events are kept; ids count from 1. */
#define CID_MAX (1u << 26)

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

/* The events of an endpoint; NULL without id or memory. */
static struct report_first *
report_first_of(struct report_capture *capture, int64_t cid)
{
	struct report_firsts *firsts = &capture->firsts;

	if (cid <= 0 || cid > CID_MAX)
		return NULL;
	if ((size_t)cid >= firsts->count) {
		size_t count = 2 * (size_t)cid + 1024;
		struct report_first *list = reallocarray(firsts->list, count, sizeof(*list));

		if (list == NULL) {
			capture->no_memory = true;
			return NULL;
		}
		memset(list + firsts->count, 0, (count - firsts->count) * sizeof(*list));
		firsts->list = list;
		firsts->count = count;
	}
	return &firsts->list[cid];
}

static void
report_take_frame(struct report_capture *capture, struct report_line *line)
{
	capture->packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	capture->time = (uint64_t)report_line_number(line, "pkt_ts", 0);
	capture->bytes = (uint64_t)report_line_number(line, "pkt_len", 0);
	report_frames_add(capture, capture->packet);
	report_volume_frame(&capture->volume, capture->time, capture->bytes);
}

/* The first IP packet of the frame says which protocol the frame belongs to; packets of a tunnel have other ids. */
static void
report_take_ip(struct report_capture *capture, struct report_line *line)
{
	int64_t number;

	if ((uint64_t)report_line_number(line, "pkt_addr", 0) != capture->packet)
		return;
	capture->packet = 0;
	number = report_line_number(line, "ipv4_protocol", -1);
	if (number < 0)
		number = report_line_number(line, "ipv6_nexthdr", 0);
	report_volume_protocol(&capture->volume, capture->time, capture->bytes, (unsigned)number);
}

static void
report_take_event(struct report_capture *capture, struct report_line *line, enum report_event event)
{
	uint64_t packet = (uint64_t)report_line_number(line, "pkt_addr", 0);
	struct report_first *first = report_first_of(capture, report_line_number(line, "cs_cid", -1));

	if (first != NULL && first->packets[event] == 0)
		first->packets[event] = packet;
}

static void
report_take_line(const char *text, size_t length, void *context)
{
	struct report_capture *capture = context;
	struct report_line line;

	report_line_begin(&line, text, length);
	if (report_line_is(&line, "gld-receive\"")) {
		report_take_frame(capture, &line);
	} else if (report_line_is(&line, "ip-receive\"")) {
		report_take_ip(capture, &line);
	} else if (report_line_is(&line, "connection-end\"")) {
		if (!report_records_add(&capture->records, &line))
			capture->no_memory = true;
	} else if (report_line_is(&line, "tcp-retransmit\"")) {
		report_take_event(capture, &line, REPORT_RESENT);
	} else if (report_line_is(&line, "report-reset\"") || report_line_is(&line, "report-refusal\"")) {
		report_take_event(capture, &line, REPORT_RESET);
	} else if (report_line_is(&line, "report-closed-window\"")) {
		report_take_event(capture, &line, REPORT_ZERO_WINDOW);
	} else if (report_line_is(&line, "dns-timeout\"")) {
		if (capture->dns.queries++ == 0)
			capture->dns.cid = (uint64_t)report_line_number(&line, "ci_cid", 0);
	}
}

/* A line of standard error: a counter of --summary, or a message, which is passed on. */
static void
report_take_note(const char *line, void *context)
{
	struct report_capture *capture = context;
	unsigned long long value;
	char name[64];

	if (strncmp(line, "netobsd: ", 9) == 0) {
		fprintf(stderr, "netobs-report: %s\n", line + 9);
	} else if (sscanf(line, "%63s %llu", name, &value) == 2) {
		if (strcmp(name, "truncated") == 0)
			capture->truncated = value;
		else if (strcmp(name, "capture.damaged") == 0)
			capture->damaged = value;
		else if (strcmp(name, "capture.unsupported") == 0)
			capture->unsupported = value;
		else if (strcmp(name, "flow.midstream") == 0)
			capture->midstream = value;
	}
}

static const struct report_first *
report_first_known(const struct report_capture *capture, uint64_t cid)
{
	static const struct report_first none;

	return cid < capture->firsts.count ? &capture->firsts.list[cid] : &none;
}

/* Where a capture has both sides of a firewall that rewrites numbers, an old segment seems to close a window.  The page
 * counts windows of which it can show the segment. */
static void
report_check_window(const struct report_capture *capture, struct report_end *end)
{
	if (report_first_known(capture, end->cid)->packets[REPORT_ZERO_WINDOW] == 0)
		end->zero_windows = 0;
}

void
report_capture_read(struct report_capture *capture, const struct replay_source *source)
{
	/* In the view of both ends the sender of a segment is known. */
	static char print[] = "--print=gld-receive,ip-receive,connection-end,tcp-retransmit,dns-timeout,"
			      "report-reset,report-refusal,report-closed-window";
	/* In the order in which the lines are read; the columns of a record as report_records_add() reads them. */
	static char fields[] =
	    "--print-fields=probe,pkt_addr,pkt_ts,pkt_len,ipv4_protocol,ipv6_nexthdr,cs_cid,ci_cid,"
	    "cr_client,cr_server,cr_client_port,cr_server_port,cr_client_cid,cr_server_cid,cr_role,cr_protocol,"
	    "cr_start,cr_end,cr_duration_us,cr_client_segments,cr_client_bytes,cr_client_resent,cr_client_zero_windows,"
	    "cr_server_segments,cr_server_bytes,cr_server_resent,cr_server_zero_windows,cr_resent_fast,"
	    "cr_resent_timeout,cr_resent_probe,cr_resent_spurious,cr_resent_syn,cr_zero_window_us,cr_handshake_us,"
	    "cr_rtt_mean_us,cr_exchanges,cr_answer_mean_us,cr_answer_max_us,cr_client_flags,cr_server_flags,cr_reason,"
	    "cr_name";
	static char *const more[] = {
	    "--view=both",
	    "--format=json",
	    "--summary",
	    /* The RST of an end closes that end at once, a RST that is not its own does not. */
	    "--formula=report-reset = tcp-send where tcp_flags & RST && tcps_state == closed",
	    /* A port on which nothing listens has no endpoint: its RST has a connection only where it is received. */
	    "--formula=report-refusal = tcp-receive where tcp_flags & RST && tcps_state in {syn-sent, closed}",
	    "--formula=report-closed-window = tcp-send where tcp_window == 0 && !(tcp_flags & (SYN|RST))",
	    print,
	    fields,
	};

	capture->status = replay_run_netobsd(source, more, sizeof(more) / sizeof(more[0]), report_take_line,
					     report_take_note, capture);
	for (size_t i = 0; i < capture->records.count; i++) {
		report_check_window(capture, &capture->records.list[i].ends[REPORT_CLIENT]);
		report_check_window(capture, &capture->records.list[i].ends[REPORT_SERVER]);
	}
}

uint64_t
report_capture_frame(const struct report_capture *capture, uint64_t packet)
{
	size_t low = 0, high = capture->frames.count;

	if (packet == 0)
		return 0;
	/* The last frame whose first packet is not behind this one. */
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
	    capture, report_earlier(report_first_known(capture, record->ends[REPORT_CLIENT].cid)->packets[event],
				    report_first_known(capture, record->ends[REPORT_SERVER].cid)->packets[event]));
}
