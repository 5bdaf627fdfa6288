/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of counters.  A new counter is a field in one of the structs of struct stats_totals, and one row here.
 *
 * --summary, SIGUSR1, "netobsctl counters", the metrics and the section COUNTERS of netobsd(8) are made from the rows,
 * in this order.  A test compares the manual with the table, and checks that each field has a row.
 */
#ifndef NETOBS_DAEMON_STATS_COUNTERS_H
#define NETOBS_DAEMON_STATS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/stats/stats.h"

enum counter_type {
	COUNTER_TOTAL, /* never decreases */
	COUNTER_GAUGE,
	COUNTER_GAUGE_US,  /* microseconds; the metric is in seconds */
	COUNTER_HISTOGRAM, /* array: the field is a struct record_histogram; the metric is in seconds */
};

/* When the summary contains a counter. */
enum counter_condition {
	COUNTER_ALWAYS,
	COUNTER_IF_NONZERO,
	COUNTER_IF_USED, /* if the counter at `used_offset` is not 0 */
	COUNTER_IN_METRICS_ONLY,
};

/* When the metrics contain a counter.  One that can rise in this configuration is exported while it is 0, so that its
 * rate is exact from the first event on. */
enum counter_export {
	EXPORT_ALWAYS,
	EXPORT_WITH_ANY,    /* if the interface "any" is observed */
	EXPORT_WITH_PRINT,  /* if probes are printed */
	EXPORT_WITH_OWNERS, /* if processes are looked up */
	EXPORT_WITH_APPS,   /* if an application provider has ports */
	EXPORT_IF_USED,	    /* if the counter at `used_offset` is not 0 */
	EXPORT_IF_NONZERO,  /* arrays with many elements of which few are ever counted */
};

/* One counter, or an array of counters that is indexed by an enum. */
struct counter_row {
	const char *group; /* with its dot: "flow.", or "" */
	const char *name;  /* NULL for an array */
	size_t offset;	   /* offset in struct stats_totals */
	enum counter_condition condition;
	enum counter_export exported;
	size_t used_offset;
	/* Arrays: the elements from `first` to before `end`, their names, and the word for a name in the manual. */
	const char *(*element_name)(unsigned index);
	unsigned first, end;
	const char *variable;
	/* The metric without "netobs_"; NULL for counters that stay 0 while metrics are served.  Consecutive rows with
	 * one metric differ by the value of `label`, by default the counter's name. */
	const char *metric;
	enum counter_type type;
	const char *label, *label_value;
	const char *metric_help; /* in the first of these rows: what the metric is */
	const char *help;	 /* what is counted: sentences */
	const char *advice;	 /* what a value other than 0 means and what to do: sentences, or NULL */
};

extern const struct counter_row counters_table[];
extern const size_t counters_table_rows;

/* Elements of a row; 1 unless it is an array. */
static inline unsigned
counter_row_end(const struct counter_row *row)
{
	return row->element_name != NULL ? row->end : 1;
}

/* Name and value of an element from row->first to before counter_row_end(). */
const char *counter_row_name(const struct counter_row *row, unsigned index);
uint64_t counter_row_value(const struct counter_row *row, unsigned index, const struct stats_totals *totals);

/* The field of a row of the type COUNTER_HISTOGRAM. */
const struct record_histogram *counter_row_histogram(const struct counter_row *row, const struct stats_totals *totals);

/* Whether the metrics contain this element; the row has a metric. */
bool counter_row_is_exported(const struct counter_row *row, unsigned index, const struct stats_totals *totals,
			     const struct config *config);

/* Receives a counter as the summary prints it: group and name. */
typedef void counter_visitor(void *context, const char *group, const char *name, uint64_t value);

/* Calls `visit` for every counter that the summary contains. */
void counters_visit(const struct stats_totals *totals, counter_visitor *visit, void *context);

/* The summary: all counters, one "name value" a line.  The meaning of a name never changes. */

/* Updates the counters of all workers and writes their sums to standard error, and waits a moment for its reader.
 * Anomalies and probes that never occurred are omitted.  False if they are not written, except to a pipe that has no
 * reader. */
bool summary_write(struct workers *workers);

/* As summary_write(), without waiting: lines that standard error does not take are dropped, like those of the log. */
void summary_write_now(struct workers *workers);

#endif
