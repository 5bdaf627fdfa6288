/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rate limit for log messages: each call site may log LOG_LIMIT_LINES lines in LOG_LIMIT_SECONDS.  Further lines are
 * counted, and the count is logged later.  The macros of log.h give every call site its own struct log_site.
 *
 * There is no limit during startup: a start that fails logs one line and ends.
 */
#ifndef NETOBS_BASE_LOG_LIMIT_H
#define NETOBS_BASE_LOG_LIMIT_H

#include <stdbool.h>

#define LOG_LIMIT_LINES	  5u
#define LOG_LIMIT_SECONDS 10u

/* Starts limiting. */
void log_limit_enable(void);

/* Logs the number of suppressed lines for every call site whose interval is over.  Called periodically. */
void log_limit_report_expired(void);

/* Logs all suppressed lines, whether or not their interval is over, and ends limiting. */
void log_limit_disable(void);

#endif
