/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages for the user, on standard error: one line each, "netobsd: ...", with program_invocation_short_name, which
 * main() sets.  Under systemd (JOURNAL_STREAM is set) each line begins with its priority, as in sd-daemon(3).  Bytes
 * that are not printable ASCII are written as \xNN, so that a file name or an interface name cannot manipulate a
 * terminal.  A line is dropped if standard error is full.  While netobsd runs, no call can flood the log: see
 * below. */
#ifndef NETOBS_BASE_LOG_H
#define NETOBS_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text of more bytes is cut and ends in "...". */
#define LOG_TEXT_MAX 2000

/* The numbers are those of syslog(3). */
enum log_level {
	LEVEL_ERROR = 3,
	LEVEL_WARNING = 4,
	LEVEL_NOTICE = 5,
	LEVEL_DEBUG = 7, /* debug messages, below */
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

/* -------------------------------------------------------------------------------------------------------- log limit */

/*
 * Rate limit for log messages: each call site may log LOG_LIMIT_LINES lines in LOG_LIMIT_SECONDS.  Further lines are
 * counted, and the count is logged later.
 *
 * There is no limit during startup: a start that fails logs one line and ends.
 */

#define LOG_LIMIT_LINES	  5u
#define LOG_LIMIT_SECONDS 10u

/* Starts limiting. */
void log_limit_enable(void);

/* Logs the number of suppressed lines for every call site whose interval is over.  Called periodically. */
void log_limit_report_expired(void);

/* Logs all suppressed lines, whether or not their interval is over, and ends limiting. */
void log_limit_disable(void);

/* -------------------------------------------------------------------------------------------------------- log debug */

/*
 * Debug messages by topic, "netobsd: debug live: ...", off by default.  They explain decisions that operators ask
 * about: why an interface is not opened again yet, which addresses became local, which settings a reload changed.
 *
 * A disabled message costs one load and one branch; its arguments are not evaluated.  The path of a frame has no debug
 * messages.  The limits above do not apply, because a reader of debug messages needs all of them.
 */

enum debug_topic {
	DEBUG_CONFIG,
	DEBUG_CONFINE,
	DEBUG_HOST,
	DEBUG_CAPTURE,
	DEBUG_LIVE,
	DEBUG_OWNER,
	DEBUG_QUERY,
	DEBUG_TOPIC_COUNT
};

#define DEBUG_ALL_TOPICS ((UINT32_C(1) << DEBUG_TOPIC_COUNT) - 1)

struct debug_topic_row {
	const char *name;
	const char *help; /* what its messages are about, without a full stop */
};

extern const struct debug_topic_row debug_topics[DEBUG_TOPIC_COUNT];

/* Set of enabled topics: bit 1 << topic. */
extern _Atomic uint32_t debug_enabled;

static inline bool
log_debug_is_on(enum debug_topic topic)
{
	return (atomic_load_explicit(&debug_enabled, memory_order_relaxed) >> topic & 1) != 0;
}

/* Replaces the set of enabled topics.  Any thread may call it. */
void log_debug_enable(uint32_t topics);

/* Parses "live,config", "all" or "off" and adds the topics to `*topics`; "off" clears it.  False, with `error`, which
 * lists the topics, if one is unknown. */
bool log_debug_parse(const char *text, uint32_t *topics, char *error, size_t size);

/* Writes the names of the topics as log_debug_parse() accepts them; "off" for none. */
void log_debug_format(uint32_t topics, char *text, size_t size);

/* Size of a text that holds all names. */
#define DEBUG_TOPICS_TEXT_MAX 128

/* Logs one line, whether or not the topic is enabled. */
void log_debug_write(enum debug_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(topic, ...)                                                                                          \
	do {                                                                                                           \
		if (__builtin_expect(log_debug_is_on(topic), 0))                                                       \
			log_debug_write((topic), __VA_ARGS__);                                                         \
	} while (0)

/* ------------------------------------------------------------------------------------------------------ unit clause */

/*
 * What a message adds to the reason of an error that a setting of the service manager's unit can cause: the reason
 * alone then misleads, such as "Read-only file system".  Each function returns "" unless the service manager has
 * started this process itself.
 */

/* The clause about a limit, a string literal that names the setting and what it forbids. */
#define unit_clause(limit) \
	unit_clause_choose("; " limit " (systemctl edit can permit it: netobsd(8), What the unit forbids)")

/* The clause, or "". */
const char *unit_clause_choose(const char *clause);

/* The clause about a file or directory that cannot be used at this path, or not be created there, for this reason (an
 * errno value), or "". */
const char *unit_clause_of_path(const char *path, int error);

/* The clause about a filter that libpcap refuses with this message: it names a host, which may not be looked up; or
 * "". */
const char *unit_clause_of_filter(const char *message);

#endif
