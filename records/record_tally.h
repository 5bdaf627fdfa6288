/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the connections of a table, for a line below it:
 *
 *	155 connections: 80 TCP, 75 UDP; 2 refused, 3 unreachable, 1 no-answer, 12 reset; 8 of 155 lines shown
 */
#ifndef NETOBS_RECORDS_RECORD_TALLY_H
#define NETOBS_RECORDS_RECORD_TALLY_H

#include <stdint.h>

#include "probes/netobs.h"

/* Bytes of the text, including the NUL. */
#define RECORD_TALLY_MAX 320

struct record_tally {
	uint64_t lines;	      /* records, those of open connections included */
	uint64_t connections; /* records of ends: one for each connection */
	uint64_t tcp, udp, sctp;
	uint64_t refused, unreachable, unanswered, reset;
};

void record_tally_add(struct record_tally *tally, const struct connrec *record);

/* Writes the text, without what is 0.  `limit`: most lines of the table, 0: all. */
void record_tally_format(const struct record_tally *tally, uint64_t limit, char text[RECORD_TALLY_MAX]);

#endif
