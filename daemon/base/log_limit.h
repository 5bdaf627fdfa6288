/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No flood of messages: each place in the code that logs may say LOG_LIMIT_LINES lines in LOG_LIMIT_SECONDS.  What is
 * more is counted, and the count is told.  The macros of log.h give every place its own struct log_site.
 *
 * While netobsd starts nothing is limited: it says one line and ends, or nothing.
 */
#ifndef NETOBS_DAEMON_BASE_LOG_LIMIT_H
#define NETOBS_DAEMON_BASE_LOG_LIMIT_H

#include <stdbool.h>

#define LOG_LIMIT_LINES	  5u
#define LOG_LIMIT_SECONDS 10u

/* From now on there are limits. */
void log_limit_start(void);

/* Tells, of every place whose time is up, how many lines it was not allowed.  To be called now and then. */
void log_limit_settle(void);

/* The same whether or not their time is up; limits end. */
void log_limit_end(void);

#endif
