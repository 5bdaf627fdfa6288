/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slow answers and unanswered queries, of which the second pass finds the packets.
 *
 * The answer time of a record is what the client waits, from the last new byte of its request on.  If the request is
 * lost and sent again, a part of that time is the network's: the server has what is left from the last copy on.  If the
 * first captured copy of the answer is a retransmission, the answer was lost before the capture, and the server is not
 * known to be slow at all.
 *
 * A client may also react to data of the server: to a heartbeat, or to the settings of HTTP/2.  Nothing answers that,
 * and the next data of the server is no answer, however late it comes.  A short request of TCP directly after data of
 * the server may be such a reaction, or the next command of a quick client.
 *
 * The capture may lack data of the server, too, which may be the answer.
 *
 * A TCP acknowledges data within 500 ms (RFC 9293).  If a request was sent again and a late answer is the first segment
 * of the server after the last copy, that copy, or what the server sent for it, was lost, too.
 */
#ifndef NETOBS_REPORT_EXCHANGES_H
#define NETOBS_REPORT_EXCHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_capture.h"

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

/* A segment that an end of exchange `number` sends. */
void report_exchanges_take_segment(struct report_exchanges *exchanges, const struct report_pass *pass,
				   const struct firing *firing, size_t number);

/* Likewise a datagram. */
void report_exchanges_take_datagram(struct report_exchanges *exchanges, const struct report_pass *pass,
				    const struct flow *flow, unsigned sender, uint64_t time, size_t number);

/* A DNS query. */
void report_exchanges_take_query(struct report_exchanges *exchanges, const struct report_pass *pass,
				 struct firing *firing);

void report_exchanges_free(struct report_exchanges *exchanges);

#endif
