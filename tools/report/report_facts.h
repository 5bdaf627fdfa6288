/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of the records that need all of the capture: what is still open, closed or without answer when it ends. */
#ifndef NETOBS_TOOLS_REPORT_REPORT_FACTS_H
#define NETOBS_TOOLS_REPORT_REPORT_FACTS_H

#include "tools/report/report_capture.h"
#include "tools/report/report_detail.h"

/* Sets the facts of all records, and adds to their scores. */
void report_facts_find(struct report_capture *capture);

/* Sets the times for which the windows of records were closed, if all of their segments are in the details. */
void report_facts_find_windows(struct report_capture *capture, struct report_detail *detail);

#endif
