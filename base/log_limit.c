/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"

/* Limits are per process, and any thread may log. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool limiting;
static struct log_site *suppressed_sites; /* call sites with suppressed lines that are not reported yet */

static uint64_t
log_limit_now_s(void)
{
	return clock_monotonic_ns() / 1000000000u;
}

static void
log_limit_report_site(struct log_site *site)
{
	log_write(site->level, "%llu more messages like \"%s\" suppressed", site->suppressed, site->last_suppressed);
	site->suppressed = 0;
}

/* Whether the call site may log one more line.  The caller holds the mutex. */
static bool
log_limit_allow_line(struct log_site *site)
{
	uint64_t now = log_limit_now_s();

	if (site->burst == 0 || now - site->window_start >= LOG_LIMIT_SECONDS) {
		site->window_start = now;
		site->burst = 0;
	}
	if (site->burst < LOG_LIMIT_LINES) {
		site->burst++;
		return true;
	}
	if (site->suppressed++ == 0 && !site->in_suppressed_list) {
		site->in_suppressed_list = true;
		site->next = suppressed_sites;
		suppressed_sites = site;
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
	allowed = !limiting || log_limit_allow_line(site);
	if (!allowed)
		snprintf(site->last_suppressed, sizeof site->last_suppressed, "%.*s",
			 (int)sizeof site->last_suppressed - 1, text);
	pthread_mutex_unlock(&mutex);
	if (allowed)
		log_write(site->level, "%s", text);
}

static void
log_limit_report_sites(bool all)
{
	struct log_site **link = &suppressed_sites;
	uint64_t now = log_limit_now_s();

	pthread_mutex_lock(&mutex);
	while (*link != NULL) {
		struct log_site *site = *link;

		if (!all && now - site->window_start < LOG_LIMIT_SECONDS) {
			link = &site->next;
			continue;
		}
		*link = site->next;
		site->in_suppressed_list = false;
		log_limit_report_site(site);
	}
	pthread_mutex_unlock(&mutex);
}

void
log_limit_enable(void)
{
	limiting = true;
}

void
log_limit_report_expired(void)
{
	log_limit_report_sites(false);
}

void
log_limit_disable(void)
{
	log_limit_report_sites(true);
	limiting = false;
}
