/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slow answers and unanswered queries, of which the second pass finds the packets.
 *
 * The answer time of a record is what the client waits, from the last new byte of its request on.  If the request is
 * lost and sent again, a part of that time is the network's: the server has what is left from the last copy on.  If the
 * first captured copy of the answer is a retransmission, the answer was lost before the capture, and the server is not
 * known to be slow at all.
 */
#ifndef NETOBS_REPORT_EXCHANGES_H
#define NETOBS_REPORT_EXCHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_capture.h"
#include "tools/report/report_lines.h"

/* Most connections that are examined: those with the slowest answers among those on which data was sent again, and
 * REPORT_EVIDENCE others. */
#define REPORT_EXCHANGES 150u

/* Most formulas. */
#define REPORT_EXCHANGE_FORMULAS (2 * REPORT_EXCHANGES / REPORT_FORMULA_CIDS + 4)

/* The request that a connection is at; times ns since the epoch. */
struct report_exchange {
	struct report_record *record;
	uint64_t asked, sent;	     /* its last new segment, and the last copy of any part of it */
	uint64_t request, last_copy; /* their packet ids */
	uint64_t received;	     /* bytes of answers before it; TCP */
	uint32_t end_sequence;	     /* behind it; TCP */
	bool waits;		     /* it has no answer yet */
};

struct report_exchanges {
	struct report_exchange *list;
	size_t count;
	struct report_unanswered *dns;
	char *formulas[REPORT_EXCHANGE_FORMULAS]; /* options of netobsd */
	size_t formulas_count;
};

/* Chooses the connections and defines the formulas; false if out of memory. */
bool report_exchanges_begin(struct report_exchanges *exchanges, struct report_capture *capture);

/* Reads a line of the second pass into the records.  False if it is not of the formulas. */
bool report_exchanges_read(struct report_exchanges *exchanges, struct report_line *line);

void report_exchanges_free(struct report_exchanges *exchanges);

#endif
