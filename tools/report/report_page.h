/* SPDX-License-Identifier: BSD-2-Clause */
/* The page: its head with the policy, the data as one block of JSON, the style and the script. */
#ifndef NETOBS_TOOLS_REPORT_REPORT_PAGE_H
#define NETOBS_TOOLS_REPORT_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"

/* Rows of the table of connections, at most: the size of the page depends on them. */
#define REPORT_ROWS 20000u

/* The input of the page. */
struct report_input {
	char *const *files; /* captures, or the interface */
	size_t files_count;
	const char *filter; /* NULL: all frames */
	bool interface;
};

/* Writes the page; false if out of memory or if the file cannot be written. */
bool report_page_write(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		       const struct report_input *input);

#endif
