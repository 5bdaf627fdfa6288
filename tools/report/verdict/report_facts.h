/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of the records that need all of the capture: what is still open, closed or without answer when it ends. */
#ifndef NETOBS_REPORT_FACTS_H
#define NETOBS_REPORT_FACTS_H

#include "tools/report/report_capture.h"

/* Sets the facts of all records, and adds to their scores. */
void report_facts_find(struct report_capture *capture);

#endif
