/* SPDX-License-Identifier: BSD-2-Clause */
/* The findings without the page: as text for a terminal, as JSON for programs, as an exit status. */
#ifndef NETOBS_TOOLS_REPORT_REPORT_SUMMARY_H
#define NETOBS_TOOLS_REPORT_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/report/report_findings.h"
#include "tools/report/report_page.h"

/* Exit status of --check: something is wrong; the capture cannot tell. */
enum { REPORT_STATUS_WRONG = 3, REPORT_STATUS_UNDECIDED = 4 };

/* Writes what is wrong, most cost first, then a table of the services, in lines of any length.  False if the file
 * cannot be written. */
bool report_summary_write_text(FILE *file, const struct report_capture *capture, const struct report_findings *findings,
			       const struct report_input *input);

/* Writes the same as one JSON object (netobs(1), REPORT). */
bool report_summary_write_json(FILE *file, const struct report_capture *capture, const struct report_findings *findings,
			       const struct report_input *input);

/* 0: nothing wrong was found. */
int report_summary_status(const struct report_findings *findings);

#endif
