/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages for people, on standard error: one line each, "netobsd: ...".  Under systemd (JOURNAL_STREAM is set) each
 * line begins with its priority as sd-daemon(3) says.  Bytes that are not printable ASCII come out as \xNN, so that a
 * file name or an interface name cannot play tricks on a terminal. */
#ifndef NETOBS_DAEMON_LOG_H
#define NETOBS_DAEMON_LOG_H

/* The numbers are those of syslog(3). */
enum log_level {
	LEVEL_ERROR = 3,
	LEVEL_WARNING = 4,
	LEVEL_NOTICE = 5,
};

/* Says one line; a text of more than 2,000 bytes is cut and ends in "...". */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_write(LEVEL_NOTICE, __VA_ARGS__)

#endif
