/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages for the user, on standard error: one line each, "netobsd: ...", with program_invocation_short_name, which
 * main() sets.  Under systemd (JOURNAL_STREAM is set) each line begins with its priority, as in sd-daemon(3).  Bytes
 * that are not printable ASCII are written as \xNN, so that a file name or an interface name cannot manipulate a
 * terminal.  A line is dropped if standard error is full.  While netobsd runs, no call can flood the log: see
 * log_limit.h. */
#ifndef NETOBS_BASE_LOG_H
#define NETOBS_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* A text of more bytes is cut and ends in "...". */
#define LOG_TEXT_MAX 2000

/* The numbers are those of syslog(3). */
enum log_level {
	LEVEL_ERROR = 3,
	LEVEL_WARNING = 4,
	LEVEL_NOTICE = 5,
	LEVEL_DEBUG = 7, /* log_debug.h */
};

/* A call site that logs; log_limit.c keeps its counts here. */
struct log_site {
	enum log_level level;
	unsigned burst;	       /* lines logged since `window_start` */
	uint64_t window_start; /* monotonic seconds */
	unsigned long long suppressed;
	char last_suppressed[128]; /* last suppressed line, truncated */
	bool in_suppressed_list;
	struct log_site *next;
};

/* Logs one line. */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes lines as they are, each of which ends in a newline; those that standard error does not take are dropped. */
void log_write_lines(const char *text);

/* Logs one line, or counts it if this call site is over its limit. */
void log_limited(struct log_site *site, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Discards all lines from now on, or no longer: while an input is read again whose messages were logged before. */
void log_mute(bool mute);

/* Lines that were dropped because standard error was full: it is not read. */
uint64_t log_dropped(void);

#define log_at_site(severity, ...)                                                                         \
	do {                                                                                               \
		static struct log_site log_site = {.level = (severity)};                                   \
		log_limited(&log_site, __VA_ARGS__);                                                       \
	} while (0)

#define log_error(...) log_at_site(LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_at_site(LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_at_site(LEVEL_NOTICE, __VA_ARGS__)

/* Logs that, and returns false. */
static inline bool
log_out_of_memory(void)
{
	log_error("out of memory");
	return false;
}

#endif
