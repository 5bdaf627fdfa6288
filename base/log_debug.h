/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug messages by topic, "netobsd: debug live: ...", off by default.  They explain decisions that operators ask
 * about: why an interface is not opened again yet, which addresses became local, which settings a reload changed.
 *
 * A disabled message costs one load and one branch; its arguments are not evaluated.  The path of a frame has none.
 * The limits of log_limit.h do not apply, because a reader of debug messages needs all of them.
 */
#ifndef NETOBS_BASE_LOG_DEBUG_H
#define NETOBS_BASE_LOG_DEBUG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
