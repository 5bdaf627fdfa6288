/* SPDX-License-Identifier: BSD-2-Clause */
/* The block of data of the page: JSON in which no character can end the element that contains it. */
#ifndef NETOBS_REPORT_DATA_H
#define NETOBS_REPORT_DATA_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"

/* The input of the page. */
struct report_input {
	char *const *files; /* captures, or the interface */
	size_t files_count;
	const char *filter; /* NULL: all frames */
	bool interface;
};

/* Writes the block; false if out of memory. */
bool report_data_write(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		       const struct report_input *input);

#endif
