/* SPDX-License-Identifier: BSD-2-Clause */
/* The second pass: segments and states of the connections with most trouble. */
#ifndef NETOBS_REPORT_DETAIL_H
#define NETOBS_REPORT_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/replay/replay.h"
#include "tools/report/report_exchanges.h"
#include "tools/report/report_records.h"

/* Segments of the page: of one end of a connection, and of all; the size of the page depends on them. */
#define REPORT_END_SEGMENTS 2000u
#define REPORT_SEGMENTS	    200000u

/* Further segments of an end that only their receiver reports: a RST may come after the last segment on the page. */
#define REPORT_END_ANSWERS 100u

/* Changes of state of an end on the page. */
#define REPORT_END_CHANGES 100u

/* Most connections in detail. */
#define REPORT_TOP_MAX 500u

/* The kind of a segment that probes a closed window, after the NETOBS_RETRANSMIT_ numbers. */
#define REPORT_WINDOW_PROBE 6u

struct report_segment {
	uint64_t time, packet;
	uint32_t sequence, acknowledgement, length, window;
	uint32_t sacked; /* highest sequence number that its sender has SACKed so far; 0 none */
	uint16_t detail;
	uint8_t end, flags, kind; /* kind: NETOBS_RETRANSMIT_ number, REPORT_WINDOW_PROBE, 0 neither */
};

struct report_change {
	uint64_t time;
	uint16_t detail;
	uint8_t end, before, after; /* states: indices of report_state_name() */
};

struct report_detail_end {
	uint64_t cid;
	unsigned answers;	  /* further segments that were added */
	unsigned changes;	  /* changes of state that were added */
	uint64_t closed_since;	  /* time stamp of the segment that closed its window; 0: open */
	uint64_t closed_packet;	  /* its packet id */
	uint64_t closed_ns;	  /* sum of the times for which its window was closed and opened again */
	uint64_t longest_ns;	  /* the longest of them */
	uint64_t longest_packet;  /* packet id of the segment that closed the window for it */
	size_t last, before_last; /* numbers of the segments that it has sent, counted from 1; 0 none */
};

struct report_detail {
	struct report_segment *segments;
	size_t segments_count, segments_capacity;
	struct report_change *changes;
	size_t changes_count, changes_capacity;
	unsigned end_segments;		/* segments of an end, at most */
	struct report_detail_end *ends; /* client and server of each detail */
	uint64_t resent_packet;		/* of the last retransmission, whose segment follows it */
	uint8_t resent_kind;
	size_t count;
	bool no_memory;
	int status;
};

/* Reads segments and states of the records that have a number in `detail`, `count` of them, and the exchanges. */
void report_detail_read(struct report_detail *detail, struct report_exchanges *exchanges,
			const struct report_records *records, size_t count, const struct replay_source *source);

/* The word of a state; NULL after the last one. */
const char *report_state_name(size_t state);

#endif
