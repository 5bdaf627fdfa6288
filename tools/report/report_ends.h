/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened at the ends of connections, by connection id; only ends at which something happened have an entry. */
#ifndef NETOBS_REPORT_ENDS_H
#define NETOBS_REPORT_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of events that a sentence of the verdict links to: a segment with RST that has an effect, one that closes the
 * window, a retransmission, the ACK that completes a slow handshake. */
enum report_event { REPORT_RESET, REPORT_ZERO_WINDOW, REPORT_RESENT, REPORT_OPENED, REPORT_EVENTS };

/* Times ns since the epoch; packet ids 0: none. */
struct report_end_events {
	uint64_t cid;			 /* 0: the entry is free */
	uint64_t packets[REPORT_EVENTS]; /* ids of the first packet of each kind */
	uint64_t closed_packet;		 /* the segment that closed the window last */
	uint64_t closed_time;		 /* its time */
	uint64_t closed_segments;	 /* segments that the end had sent by the last one that shows it closed */
	uint32_t missing;		 /* bytes that it acknowledges and that are not in the capture */
	bool resends;			 /* it has sent data again that was not acknowledged */
};

/* A hash table; its size is a power of two. */
struct report_ends {
	struct report_end_events *list;
	size_t size, count;
};

/* The entry of an end, which is made if there is none; NULL if out of memory, or for an id that is not positive. */
struct report_end_events *report_ends_of(struct report_ends *ends, int64_t cid);

/* The entry of an end, one without events if there is none. */
const struct report_end_events *report_ends_find(const struct report_ends *ends, uint64_t cid);

#endif
