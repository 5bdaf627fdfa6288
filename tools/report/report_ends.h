/* SPDX-License-Identifier: BSD-2-Clause */
/* Events at the ends of connections, by connection id; only ends with events have an entry. */
#ifndef NETOBS_REPORT_ENDS_H
#define NETOBS_REPORT_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of events that a sentence of the verdict links to: a segment with RST that has an effect, one that closes the
 * window, a retransmission, the ACK that completes a slow handshake, an ICMP error that a packet was not delivered, the
 * first data of a server that sends first and late. */
enum report_event {
	REPORT_RESET,
	REPORT_ZERO_WINDOW,
	REPORT_RESENT,
	REPORT_OPENED,
	REPORT_UNREACHABLE,
	REPORT_GREETING,
	REPORT_EVENTS
};

/* Retransmissions of an end in a row, without any segment between them or of its peer; not those of segments that the
 * peer has acknowledged. */
struct report_repeats {
	uint64_t count;
	uint64_t packet, time;	     /* of the first one */
	uint64_t last;		     /* time of the last one */
	uint64_t segments, received; /* segments that the end had sent and received by the last one */
};

/* A segment of the handshake. */
struct report_opening {
	uint64_t packet, time;
	uint64_t received; /* segments that the end had received before it */
};

/* The latest request of a client. */
struct report_request_event {
	uint64_t packet, time;
	uint64_t received; /* bytes that the server had sent before it */
	uint64_t segments; /* segments that the server had sent before it */
	uint64_t row;	   /* requests since the last data of the server, with this one */
	uint64_t first;	   /* time of the first request of this row */
	uint32_t length;   /* payload bytes of its last segment */
};

/* An ICMP error that a packet was not delivered. */
struct report_rejection {
	uint8_t version; /* 4 ICMP, 6 ICMPv6; 0: there is none */
	uint8_t type, code;
	uint8_t sender[16]; /* network order; IPv4 in the first four bytes */
};

/* Times ns since the epoch; packet ids 0: none. */
struct report_end_events {
	uint64_t cid;
	uint64_t packets[REPORT_EVENTS]; /* ids of the first packet of each kind */
	uint64_t closed_packet;		 /* the segment that closed the window last */
	uint64_t closed_time;		 /* its time */
	uint64_t closed_segments;	 /* segments that the end had sent by the last one that shows it closed */
	bool resends;			 /* it has sent data again that was not acknowledged */
	struct report_repeats repeats;
	struct report_request_event request;
	uint64_t queued_ns;		 /* longest time from the first to the last request of a row */
	uint64_t greeting_us;		 /* of a server that sends first, and late: until its first data; 0 none */
	uint64_t missing_segments;	 /* segments that it had sent when it acknowledged missing data last */
	uint32_t missing;		 /* bytes that it acknowledged then and the capture does not have */
	uint64_t too_big_packet;	 /* latest ICMP error that a packet of it was too big for the path */
	uint64_t too_big_time;
	uint64_t finish_time;		 /* its first FIN or RST; 0 none */
	struct report_rejection rejection; /* the first of a packet of it */
	struct report_opening syn_again; /* the latest SYN or SYN-ACK that it has sent again */
	struct report_opening syn_ack;	 /* its first SYN-ACK */
};

/* Entries in the order in which they are made, and a hash table; its size is a power of two. */
struct report_ends {
	struct report_end_events *list;
	size_t count, capacity;
	uint32_t *slots; /* 1 + index in the list; 0: free */
	size_t size;
};

/* Sets a rejection, of which the sender is a text; none if that is no address. */
void report_rejection_set(struct report_rejection *rejection, uint8_t type, uint8_t code, const char *sender);

/* The entry of an end, which is made if there is none; NULL if out of memory, or for an id that is not positive. */
struct report_end_events *report_ends_add(struct report_ends *ends, int64_t cid);

void report_ends_free(struct report_ends *ends);

/* The entry of an end, one without events if there is none. */
const struct report_end_events *report_ends_find(const struct report_ends *ends, uint64_t cid);

#endif
