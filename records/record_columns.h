/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as a table: a line of titles, then one line a record.
 *
 *	START        TIME   PROT CLIENT            SERVER        SENT   RECVD  ANSWER LOST   WAITED REASON
 *	19:40:00.123 1.23s  TCP  192.0.2.1:51334   192.0.2.9:443   1832  27110 12.3ms    0us client fin
 *
 * Times are UTC, so that a table is the same everywhere.  Columns are as wide as the widest value measured.
 * If the records that were measured began on different days, START has a date: 2026-11-22T19:40:00.123.
 */
#ifndef NETOBS_RECORDS_RECORD_COLUMNS_H
#define NETOBS_RECORDS_RECORD_COLUMNS_H

#include <stdint.h>

#include "probes/netobs.h"
#include "records/record_fields.h"
#include "records/record_json.h"

struct record_columns;

/* `chosen` NULL: the columns above, or with `open` those of open connections; else these fields, one column each,
 * numbers as they are.  NULL if out of memory. */
struct record_columns *record_columns_new(const struct record_fields *chosen, bool open);
void record_columns_free(struct record_columns *table);

/* The fields that the columns without chosen ones show, separated by commas. */
const char *record_columns_fields(bool open);

/* Counters have increased in an interval of so many seconds: chosen ones are shown as rates. */
void record_columns_set_interval(struct record_columns *table, double seconds);

/* Widens the columns for a record. */
void record_columns_measure(struct record_columns *table, const struct connrow *row);

/* Without measuring: sets widths that are enough for most records. */
void record_columns_set_usual_widths(struct record_columns *table);

/* Write a line at `at`, where RECORD_LINE_MAX bytes may be overwritten.  They return its end. */
char *record_columns_put_titles(const struct record_columns *table, char *at);
char *record_columns_put_line(struct record_columns *table, const struct connrow *row, char *at);

/* Writes the value of a chosen field at `at`, where RECORD_LINE_MAX bytes may be overwritten; with `word` its blanks
 * are escaped.  Returns its end. */
char *record_columns_put_value(struct record_columns *table, unsigned column, const struct connrow *row, bool word,
			       char *at);

/*
 * Counts the connections of a table, for a line below it:
 *
 *	155 connections: 80 TCP, 75 UDP; 2 refused, 3 unreachable, 1 no-answer, 12 reset; 8 of 155 lines shown
 */

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
