/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts any number of records in bounded memory: what does not fit is written to a temporary file in sorted runs, which
 * are merged at the end.  The result depends only on the records, never on the order in which they were added.
 */
#ifndef NETOBS_RECORDS_RECORD_SORT_H
#define NETOBS_RECORDS_RECORD_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/record_fields.h"

struct record_sort;

struct record_sort_settings {
	struct record_order order;
	uint64_t limit; /* records of the result, the first ones; 0: all */
	size_t memory;	/* bytes */
	int spill_fd;	/* temporary file, empty, for reading and writing; borrowed */
};

/* NULL if out of memory. */
struct record_sort *record_sort_new(const struct record_sort_settings *settings);
void record_sort_free(struct record_sort *sort);

/* Adds a record.  False after an error of the temporary file. */
bool record_sort_add(struct record_sort *sort, const struct connrow *row);

/* Returns the next record of the result, after the last record_sort_add(); valid until the next call.  NULL at its end
 * and after an error. */
const struct connrow *record_sort_next(struct record_sort *sort);

/* errno of the first failure, 0 if there was none. */
int record_sort_error(const struct record_sort *sort);

#endif
