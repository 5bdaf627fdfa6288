/* SPDX-License-Identifier: BSD-2-Clause */
/* The second pass: segments and states of the connections with most trouble. */
#ifndef NETOBS_TOOLS_REPORT_REPORT_DETAIL_H
#define NETOBS_TOOLS_REPORT_REPORT_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_capture.h"
#include "tools/report/report_records.h"

/*
 * Slow answers and unanswered queries, of which the second pass finds the packets.
 *
 * The answer time of a record is what the client waits, from the last new byte of its request on.  If the request is
 * lost and sent again, a part of that time is the network's: the server has what is left from the last copy on.  If the
 * first captured copy of the answer is a retransmission, the answer was lost before the capture, and the server is not
 * known to be slow at all.
 *
 * A client may also react to data of the server: to a heartbeat, or to the settings of HTTP/2.  Nothing answers that,
 * and the next data of the server is not an answer, however late it comes.  A short request of TCP directly after data
 * of the server may be such a reaction, or the next command of a quick client.
 *
 * The capture may lack data of the server, too, which may be the answer.
 *
 * A TCP acknowledges data within 500 ms (RFC 9293).  If a request was sent again and a late answer is the first segment
 * of the server after the last copy, that copy, or what the server sent for it, was lost, too.
 */

/* Most connections whose packets are read: those with the slowest answers. */
#define REPORT_EXCHANGES 300u

/* The longest request that may be a reaction, bytes, and the longest time from the server's data to its begin, ns. */
#define REPORT_REACTION_BYTES 100u
#define REPORT_REACTION_NS    5000000u

/* The request that a connection is at; times ns since the epoch. */
struct report_exchange {
	struct report_record *record;
	uint64_t asked, sent;	     /* its last new segment, and the last copy of any part of it */
	uint64_t request, last_copy; /* their packets; 0: no request was captured yet */
	uint64_t datagrams;	     /* of both ends, up to the latest packet; a copy is not counted; UDP */
	uint64_t received;	     /* bytes of answers before it; TCP */
	uint64_t received_segments;  /* segments of the server before the last copy; TCP */
	uint64_t server_sent;	     /* the latest data of the server; 0 none; TCP */
	uint32_t sequence;	     /* of its first byte; TCP */
	uint32_t end_sequence;	     /* after it; TCP */
	uint32_t base;		     /* next sequence number of the server less its captured bytes; TCP */
	bool has_base;		     /* `base` is known; it grows by what the capture lacks */
	bool waits;		     /* it has no answer yet */
	bool reaction;		     /* it may be a reaction to data of the server; TCP */
	bool unacknowledged;	     /* sent again, and the answer is the first segment after the last copy; TCP */
	bool hole;		     /* data of the server is missing after it; TCP */
	struct report_answer answers[REPORT_ANSWER_KINDS];
};

struct report_exchanges {
	struct report_exchange *list;
	size_t count;
	struct report_unanswered *dns;
};

/* Chooses the connections; false if out of memory. */
bool report_exchanges_begin(struct report_exchanges *exchanges, struct report_capture *capture);

void report_exchanges_free(struct report_exchanges *exchanges);

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
	unsigned answers;	  /* further segments that were added */
	unsigned changes;	  /* changes of state that were added */
	uint64_t closed_since;	  /* time stamp of the segment that closed its window; 0: open */
	uint64_t closed_packet;	  /* its packet */
	uint64_t closed_ns;	  /* sum of the times for which its window was closed and opened again */
	uint64_t longest_ns;	  /* the longest of them */
	uint64_t longest_packet;  /* the segment that closed the window for it */
	size_t last, before_last; /* numbers of the segments that it has sent, counted from 1; 0 none */
};

/* A connection id of the second pass: an end of a detail, and of an exchange. */
struct report_watched {
	uint64_t cid;	   /* 0: the slot is free */
	unsigned detail;   /* 1 + number in `ends`; 0: none */
	unsigned exchange; /* 1 + number of the exchange; 0: none */
};

/* Slots: a power of two, of which at most half are in use. */
#define REPORT_WATCHED 4096u
_Static_assert(REPORT_WATCHED >= 2 * 2 * (REPORT_TOP_MAX + REPORT_EXCHANGES), "half of the slots are free");

struct report_detail {
	struct report_segment *segments;
	size_t segments_count, segments_capacity;
	struct report_change *changes;
	size_t changes_count, changes_capacity;
	unsigned end_segments;		/* segments of an end, at most */
	struct report_detail_end *ends; /* client and server of each detail */
	size_t count;
	uint64_t resent_packet;		/* of the last retransmission, whose segment follows it */
	uint64_t resent_cid;		/* its sender */
	uint8_t resent_kind;
	struct report_exchanges *exchanges;
	struct report_watched watched[REPORT_WATCHED];
	uint8_t ports[65536 / 8]; /* a bit for each port of a watched connection */
	struct report_pass pass;
	bool no_memory;
};

/* Reads segments and states of the records that have a number in `detail`, `count` of them, and the exchanges.  False,
 * with a message logged, on failure. */
bool report_detail_read(struct report_detail *detail, struct report_exchanges *exchanges,
			const struct report_records *records, size_t count, struct report_passes *passes);

void report_detail_free(struct report_detail *detail);

/* The word of a state; NULL after the last one. */
const char *report_state_name(size_t state);

#endif
