/* SPDX-License-Identifier: BSD-2-Clause */
/* Events at the ends of connections. */
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
	REPORT_UNREACHABLE,
	REPORT_GREETING,
	REPORT_TROUBLES,
	REPORT_OPENED = REPORT_TROUBLES, /* of an end without other trouble as well */
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

/* A segment of the handshake that was sent again. */
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

/* Events of an end that has trouble.  Times ns since the epoch; packets 0: none. */
struct report_end_trouble {
	uint64_t cid;			 /* connection id of the end */
	uint64_t packets[REPORT_TROUBLES]; /* the first packet of each kind */
	uint64_t closed_packet;		 /* the segment that closed the window last */
	uint64_t closed_time;		 /* its time */
	uint64_t closed_segments;	 /* segments that the end had sent by the last one that shows it closed */
	uint64_t closed_us;		 /* time for which the window was closed in all; 0 unknown */
	uint64_t stuck_us;		 /* how long it is closed, if it is not opened again */
	uint64_t longest_us;		 /* longest time for which it was closed, stuck_us included; 0 unknown */
	uint64_t longest_packet;	 /* the segment that closed it then */
	struct report_repeats repeats;
	uint64_t queued_ns;		 /* longest time from the first to the last request of a row */
	uint64_t greeting_us;		 /* of a server that sends first, and late: until its first data; 0 none */
	uint64_t missing_segments;	 /* segments that it had sent when it acknowledged missing data last */
	uint32_t missing;		 /* bytes that it acknowledged then and the capture does not have */
	uint64_t too_big_packet;	 /* latest ICMP error that a packet of it was too big for the path */
	uint64_t too_big_time;
	struct report_rejection rejection; /* the first of a packet of it */
	uint64_t duplicates_reported;	 /* D-SACKs that it has sent (RFC 2883): what it got twice */
	uint64_t acked_before_loss;	 /* bytes of it that were acknowledged before its first retransmission */
	uint64_t segments_before_loss;	 /* segments that it had sent by then */
	uint32_t stuck_length;		 /* payload bytes of its latest retransmission */
	struct report_opening syn_again;   /* the latest SYN or SYN-ACK that it has sent again */
};

/* Events of an end.  Most connections have no trouble, and a server has no request. */
struct report_end_events {
	uint64_t finish_time;	 /* its first FIN or RST; 0 none */
	uint64_t syn_ack_packet; /* its first SYN-ACK; 0 none */
	uint64_t syn_ack_time;
	uint64_t opened_packet; /* REPORT_OPENED; 0 none */
	uint32_t length_acked;	/* the largest payload of its segments when all were acknowledged */
	uint32_t length_sent;	/* the largest since then */
	uint8_t ttl, rst_ttl;	/* of its latest segment without RST, of its first RST; 0 none */
	uint8_t idents_known;	/* its latest segment has an identification, and it is known how far the next one is */
	uint16_t ident;		/* identification of its latest segment */
	uint16_t idents_next, idents_odd; /* segments whose identification follows that before, or does not; saturating */
	uint16_t idents_missing; /* identifications that the capture lacks between those that follow; saturating */
	struct report_request_event *request; /* NULL: none */
	struct report_end_trouble *trouble;   /* NULL: none */
};

/* The trouble of an end with this connection id, and its latest request, which are made if there are none; NULL if out
 * of memory. */
struct report_end_trouble *report_end_add_trouble(struct report_end_events *end, uint64_t cid);
struct report_request_event *report_end_add_request(struct report_end_events *end);

/* The trouble of an end, and its latest request; zero if there is none. */
const struct report_end_trouble *report_end_trouble(const struct report_end_events *end);
const struct report_request_event *report_end_request(const struct report_end_events *end);

/* The first packet of a kind; 0 if there is none. */
uint64_t report_end_packet(const struct report_end_events *end, enum report_event event);

/* Frees what the events have; they are none then. */
void report_end_clear(struct report_end_events *end);

#endif
