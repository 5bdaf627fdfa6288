/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: what the flow table reports.  A probe reports an event to tracers. */
#ifndef NETOBS_FLOW_EVENT_H
#define NETOBS_FLOW_EVENT_H

#include <stdint.h>

#include "flow/endpoint.h"

enum flow_event_kind {
	EVENT_TCP_CONNECT_REQUEST,     /* first SYN of an active open */
	EVENT_TCP_CONNECT_ESTABLISHED, /* active open done */
	EVENT_TCP_CONNECT_REFUSED,     /* RST with ACK, or an ICMP error, received in SYN_SENT */
	EVENT_TCP_ACCEPT_ESTABLISHED,  /* passive open done */
	EVENT_TCP_ACCEPT_REFUSED,      /* a SYN was answered with RST */
	EVENT_TCP_STATE_CHANGE,	       /* `tcp_before` is the previous state, the endpoint holds the present one */
	EVENT_TCP_RETRANSMIT,	       /* see `retransmission` */
	EVENT_TCP_TIMEOUT,	       /* see `timeout`; also `retransmission` if the timer retransmits */
	EVENT_UDP_STREAM_START,
	EVENT_UDP_STREAM_END,
	EVENT_SCTP_STATE_CHANGE,       /* `sctp_before` and `sctp_after` */
};

/* Cause of a retransmission (tcprinfo_t of the contract). */
enum tcp_retransmit_kind {
	RETRANSMIT_NONE,
	RETRANSMIT_FAST,	    /* caused by an ACK: duplicate, SACK, or after a timeout */
	RETRANSMIT_TIMEOUT,	    /* the retransmission timer (RFC 6298) */
	RETRANSMIT_TAIL_LOSS_PROBE, /* tail-loss probe (RFC 8985) */
	RETRANSMIT_SPURIOUS,	    /* the peer had already acknowledged it */
	RETRANSMIT_SYN,		    /* SYN or SYN,ACK */
};

/* Which protocol timer has expired, as far as packets show it. */
enum tcp_timeout {
	TIMEOUT_NONE,
	TIMEOUT_RETRANSMIT,
	TIMEOUT_PERSIST,
	TIMEOUT_KEEPALIVE,
	TIMEOUT_TIME_WAIT,
	TIMEOUT_CONNECT,
};

struct retransmission {
	enum tcp_retransmit_kind kind;
	uint32_t count;	     /* times this sequence range has been sent, including this one */
	uint32_t elapsed_us; /* time since it was last sent; 0 if that was not captured */
};

struct flow_event {
	enum flow_event_kind kind;
	uint8_t endpoint; /* endpoint of the event, 0 or 1 */
	enum tcp_timeout timeout;
	uint64_t ts; /* packet time: of the segment, or of the timer's deadline */
	struct retransmission retransmission;
	/* EVENT_TCP_STATE_CHANGE, EVENT_SCTP_STATE_CHANGE: the endpoint before and after the change.  One packet may
	 * cause several changes.  EVENT_TCP_ACCEPT_ESTABLISHED: `tcp_after` if a later segment proves it, else zero. */
	union {
		struct {
			struct tcp_endpoint tcp_before, tcp_after;
		};
		struct {
			struct sctp_endpoint sctp_before, sctp_after;
		};
	};
};

/* Most events per endpoint and segment; exceeding it is a bug. */
#define FLOW_EVENTS_MAX 8

struct flow_events {
	unsigned count;
	struct flow_event event[FLOW_EVENTS_MAX];
};

#endif
