/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct debug_topic_row debug_topics[DEBUG_TOPIC_COUNT] = {
    [DEBUG_CONFIG] = {"config", "the configuration file, and the settings that a reload changes"},
    [DEBUG_CONFINE] = {"confine", "the user, the capabilities, the system-call filter and access to files"},
    [DEBUG_HOST] = {"host", "addresses and interfaces of this host, and interfaces below others"},
    [DEBUG_CAPTURE] = {"capture", "filters, buffers, workers, reader threads, and capture on demand"},
    [DEBUG_LIVE] = {"live", "interfaces that are opened, go down, are removed or return"},
    [DEBUG_OWNER] = {"owner", "the lookup of the processes that own sockets"},
    [DEBUG_QUERY] = {"query", "requests of netobsctl(8) and of Prometheus"},
};

_Atomic uint32_t debug_enabled;

void
log_debug_enable(uint32_t topics)
{
	atomic_store_explicit(&debug_enabled, topics, memory_order_relaxed);
}

static bool
debug_find_topic(const char *name, size_t length, uint32_t *topics)
{
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++) {
		if (strlen(debug_topics[i].name) == length && memcmp(debug_topics[i].name, name, length) == 0) {
			*topics |= UINT32_C(1) << i;
			return true;
		}
	}
	return false;
}

bool
log_debug_parse(const char *text, uint32_t *topics, char *error, size_t size)
{
	char known[DEBUG_TOPICS_TEXT_MAX];
	uint32_t parsed = *topics;

	if (strcmp(text, "off") == 0 || strcmp(text, "all") == 0) {
		*topics = *text == 'a' ? DEBUG_ALL_TOPICS : 0;
		return true;
	}
	for (;;) {
		size_t length = strcspn(text, ",");

		if (!debug_find_topic(text, length, &parsed))
			break;
		text += length;
		if (*text == '\0') {
			*topics = parsed;
			return true;
		}
		text++;
	}
	log_debug_format(DEBUG_ALL_TOPICS, known, sizeof known);
	snprintf(error, size, "expected topics of %s, separated by commas, or all or off", known);
	return false;
}

void
log_debug_format(uint32_t topics, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "off");
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT && used < size; i++)
		if ((topics >> i & 1) != 0)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
						 debug_topics[i].name);
}

void
log_debug_write(enum debug_topic topic, const char *format, ...)
{
	char text[LOG_TEXT_MAX + 2]; /* one byte more than the limit, so that log_write() notices the truncation */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	log_write(LEVEL_DEBUG, "debug %s: %s", debug_topics[topic].name, text);
}

/* ------------------------------------------------------------------------------------------------------ unit clause */

/* systemd sets SYSTEMD_EXEC_PID, since version 248, to the process that it starts.  The programs which that one starts
 * inherit the variable, shells of a desktop for example, and no unit needs to confine those. */
static bool
unit_clause_applies(void)
{
	const char *started = getenv("SYSTEMD_EXEC_PID");
	char own[32];

	snprintf(own, sizeof own, "%ld", (long)getpid());
	return started != NULL && strcmp(started, own) == 0;
}

const char *
unit_clause_choose(const char *clause)
{
	return unit_clause_applies() ? clause : "";
}

/* Whether the path is this directory or below it. */
static bool
path_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool
path_is_below_any(const char *path, const char *const *directories)
{
	for (; *directories != NULL; directories++)
		if (path_is_below(path, *directories))
			return true;
	return false;
}

/* ProtectHome= makes these directories inaccessible, PrivateTmp= and PrivateDevices= replace theirs by emptier ones. */
const char *
unit_clause_of_path(const char *path, int error)
{
	static const char *const homes[] = {"/home", "/root", "/run/user", NULL};
	static const char *const temporary[] = {"/tmp", "/var/tmp", NULL};
	bool hidden = error == ENOENT || error == EACCES || error == EPERM;

	if (error == EROFS)
		return unit_clause("ProtectSystem= of the unit may forbid to write there");
	if (hidden && path_is_below_any(path, homes))
		return unit_clause("ProtectHome= of the unit may hide it");
	if (error == ENOENT && path_is_below_any(path, temporary))
		return unit_clause("PrivateTmp= of the unit may hide it");
	if (hidden && path_is_below(path, "/dev"))
		return unit_clause("PrivateDevices= of the unit may hide it");
	return "";
}

const char *
unit_clause_of_filter(const char *message)
{
	if (strstr(message, "unknown host") == NULL)
		return "";
	return unit_clause("RestrictAddressFamilies= of the unit may forbid to look up names");
}
