/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/log_limit.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "daemon/base/log.h"

/* Limits are per process, and any thread may log. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool limiting;
static struct log_site *muted; /* call sites with suppressed lines that are not reported yet */

static uint64_t
now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static void
tell(struct log_site *site)
{
	log_write(site->level, "%llu more messages like \"%s\" suppressed", site->left_out, site->last);
	site->left_out = 0;
}

/* Whether the call site may log one more line.  The caller holds the mutex. */
static bool
allow(struct log_site *site)
{
	uint64_t now = now_seconds();

	if (site->lines == 0 || now - site->since >= LOG_LIMIT_SECONDS) {
		site->since = now;
		site->lines = 0;
	}
	if (site->lines < LOG_LIMIT_LINES) {
		site->lines++;
		return true;
	}
	if (site->left_out++ == 0 && !site->listed) {
		site->listed = true;
		site->next = muted;
		muted = site;
	}
	return false;
}

void
log_limited(struct log_site *site, const char *format, ...)
{
	char text[LOG_TEXT_MAX + 2]; /* one byte more than the limit, so that log_write() notices the truncation */
	va_list arguments;
	bool allowed;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&mutex);
	allowed = !limiting || allow(site);
	if (!allowed)
		snprintf(site->last, sizeof site->last, "%.*s", (int)sizeof site->last - 1, text);
	pthread_mutex_unlock(&mutex);
	if (allowed)
		log_write(site->level, "%s", text);
}

static void
settle(bool all)
{
	struct log_site **link = &muted;
	uint64_t now = now_seconds();

	pthread_mutex_lock(&mutex);
	while (*link != NULL) {
		struct log_site *site = *link;

		if (!all && now - site->since < LOG_LIMIT_SECONDS) {
			link = &site->next;
			continue;
		}
		*link = site->next;
		site->listed = false;
		tell(site);
	}
	pthread_mutex_unlock(&mutex);
}

void
log_limit_start(void)
{
	limiting = true;
}

void
log_limit_settle(void)
{
	settle(false);
}

void
log_limit_end(void)
{
	settle(true);
	limiting = false;
}
