/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses with most bytes of all records. */
#ifndef NETOBS_REPORT_TALKERS_H
#define NETOBS_REPORT_TALKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/report_records.h"

/* Most addresses that are found. */
#define REPORT_TALKERS 10u

struct report_talker {
	const char *address; /* of a record */
	uint64_t sent, received, connections;
};

/* Finds the addresses with most bytes, most first, then by address; returns their number.  `all` is false if out of
 * memory. */
size_t report_talkers_find(const struct report_records *records, struct report_talker talkers[REPORT_TALKERS],
			   bool *all);

#endif
