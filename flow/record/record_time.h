/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time of a connection, divided without rest: at every moment one thing is waited for.  The time between two
 * packets is pending until a packet shows what it was that took so long: an answer, a segment sent again, an ACK that
 * opens the window.  The sum of all classes is the time from the first packet to the last one, to the microsecond.
 *
 * Classes of an end are by endpoint, as in the flow, so that they hold whichever end turns out to be the client.
 */
#ifndef NETOBS_FLOW_RECORD_RECORD_TIME_H
#define NETOBS_FLOW_RECORD_RECORD_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/endpoint.h"

enum wait_class {
	WAIT_NETWORK,  /* a transfer goes on: data in flight is all that congestion control allows */
	WAIT_PATH,     /* a packet is under way between the ends: what distance alone explains */
	WAIT_CONNECT,  /* the handshake is under way */
	WAIT_CLOSING,  /* an end has sent FIN or RST */
	WAIT_UNKNOWN,  /* packets cannot decide: capture in one direction, mid-stream, several requests under way */
	WAIT_PROGRAM,  /* the program of endpoint 0 has the turn, and sends nothing; the next one: of endpoint 1 */
	WAIT_SENDING = WAIT_PROGRAM + 2, /* endpoint 0 pauses although window and network take more; next: endpoint 1 */
	WAIT_WINDOW = WAIT_SENDING + 2,	 /* the window of endpoint 0 is closed or full; next: of endpoint 1 */
	WAIT_LOST = WAIT_WINDOW + 2,	 /* something that endpoint 0 sent is lost and not resent; next: endpoint 1 */
	WAIT_CLASSES = WAIT_LOST + 2,
};

/* An answer is slow from here on, us. */
#define SLOW_ANSWER_US 500000u

/* Round-trip times between the capture and one end, microseconds. */
struct flow_round_trips {
	uint64_t sum_us;
	uint64_t loaded_sum_us; /* of the samples under load */
	uint32_t samples;
	uint32_t loaded;	/* samples taken while more than half of the largest flight was outstanding */
	uint32_t min_us, max_us; /* min_us: UINT32_MAX without samples */
};

/* 288 bytes for each flow.  Pairs are by endpoint. */
struct flow_time {
	/* First cache line: every packet changes it. */
	uint64_t start;	     /* packet time of the first packet, ns */
	uint64_t elapsed_us; /* from there to the latest packet */
	uint64_t pending_us; /* of these, the last ones: not in any class yet */
	uint64_t busy_us[2]; /* while data of the endpoint was outstanding */
	uint32_t flight[2];  /* bytes outstanding since the latest packet */
	uint32_t ack_us;     /* `pending_us` when the receiver of the turn's data acknowledged some last, 0 none */
	uint32_t bits;	     /* enum flow_time_bit */
	uint32_t asked_low_us; /* `elapsed_us` at the latest fresh payload, low 32 bits */
	uint32_t doubt_lost_us; /* time of the latest loss, until another wait ends: none if the copy was needless */
	/* Then: what ends a wait changes. */
	uint64_t us[WAIT_CLASSES];
	uint16_t segment_max[2]; /* largest fresh payload of a segment, at most TIME_SEGMENT_MAX */
	uint32_t flight_max[2];	 /* largest flight */
	uint32_t answer_min_us[2]; /* shortest time that the end took for an answer, UINT32_MAX none; saturating */
	uint32_t answer_max_us[2]; /* longest; saturating */
	uint32_t turns;		 /* times that the direction of fresh payload changed */
	uint32_t pause_max_us;	 /* longest wait for an end that sends a transfer, saturating */
	uint16_t slow_answers[2]; /* answers for which the end took SLOW_ANSWER_US or more; saturating */
	uint32_t missing_resent[2]; /* segments that fill what was missing: lost before the capture */
	uint32_t open_us;	 /* when the first end closed: time since data without an answer, 0 none; saturating */
	struct flow_round_trips rtt[2]; /* between the capture and each end */
};

enum flow_time_bit {
	TIME_STARTED = 0x0001, /* a packet was taken into account */
	TIME_CONNECT = 0x0002, /* phase: the handshake */
	TIME_CLOSING = 0x0004, /* phase: an end has sent FIN or RST */
	TIME_MIDSTREAM = 0x0008, /* no fresh payload yet, and the handshake was not captured */
	TIME_TURN = 0x0010,    /* endpoint 0 sent the latest fresh payload; the next bit: endpoint 1 */
	TIME_FULL = 0x0040,    /* and it has filled the window of its peer */
	TIME_ANSWERED = 0x0080, /* the peer of the end that opens has sent something */
	TIME_REPEATED = 0x0100, /* phase connect: the SYN was sent again */
	TIME_OPENER = 0x0200,  /* number of the endpoint that sent the first packet */
	TIME_CLOSER = 0x0400,  /* number of the endpoint that sent the first FIN or RST */
	TIME_CLOSED = 0x0800,  /* an end has sent one */
	TIME_CUT = 0x1000,     /* its peer has sent fresh payload after it */
	TIME_CLOSED_BY_RST = 0x2000, /* it was a RST */
	TIME_RESENT = 0x4000,  /* the latest fresh payload was sent again, and its peer has sent nothing since */
	TIME_ASKER = 0x8000,   /* number of the endpoint whose data had no answer, see open_us */
	TIME_PARTIAL = 0x10000, /* the latest fresh payload is smaller than a segment: its sender had nothing more */
	TIME_DRAINED = 0x20000, /* all of it was acknowledged, with the ACK of ack_us */
	TIME_DOUBT_PATH = 0x80000, /* with doubt_lost_us: a round trip before it was given to the path */
	TIME_DOUBT_END = 0x200000, /* and the number of the endpoint that lost it */
	TIME_LOADED = 0x100000, /* more than half of the largest flight of the receiver was outstanding */
	TIME_ONE_WAY = 0x40000, /* the peer of the end that opens is not captured, though it has answered */
};

/* A packet as the division needs it, after its sender has sent it and before its receiver has received it. */
struct time_packet {
	uint64_t now;	 /* packet time, ns */
	const struct tcp_endpoint *from, *to; /* NULL: not TCP */
	unsigned sender; /* endpoint */
	uint32_t fresh;	 /* payload bytes that were not captured before */
	uint8_t flags;	 /* TCP flags */
	bool closed[2];	 /* the window of the endpoint was closed before the packet */
	bool hole;	 /* bytes of the sender were missing before the packet: captured after a loss */
	bool resent;	 /* the segment repeats what was not acknowledged */
	bool needless;	 /* it reports that a segment came twice (D-SACK, RFC 2883) */
	bool ambiguous;	 /* fresh payload of a server that does not acknowledge all of the client's */
};

/* The first packet of a record, or the first one from which its counts hold.  `start`: packet time of it, ns. */
void time_begin(struct flow_time *time, uint64_t start);

/* Takes a packet into account. */
void time_take_packet(struct flow_time *time, const struct time_packet *p);

/* Adds a round trip between the capture and endpoint `end`. */
void time_add_round_trip(struct flow_time *time, unsigned end, uint32_t us);

/* The classes at packet time `last`, that of the connection's latest packet, with what is pending.  `us` has
 * WAIT_CLASSES elements; their sum is the time from `start` to `last`, microseconds. */
void time_divide(const struct flow_time *time, uint64_t last, uint64_t *us);

#endif
