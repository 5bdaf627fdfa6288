/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"

#define LINE_MAX_BYTES LOG_TEXT_MAX

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of standard error; any thread may log */
static char unwritten[4 * LINE_MAX_BYTES + 33];		  /* rest of a line that was written in part */
static size_t unwritten_size;
static _Atomic uint64_t dropped_lines;
static _Atomic bool muted;

/* Writes out the rest of a line that was written in part.  False if a part is left.  The caller holds the mutex. */
static bool
log_write_rest(void)
{
	size_t written = output_write_within(output_fd(OUTPUT_STDERR), unwritten, unwritten_size, 0);

	memmove(unwritten, unwritten + written, unwritten_size - written);
	unwritten_size -= written;
	return unwritten_size == 0;
}

/* Writes one line, or drops it if standard error is full. */
static void
log_write_text(const char *text, size_t size)
{
	size_t written = 0;

	pthread_mutex_lock(&mutex);
	progress_erase();
	if (log_write_rest()) {
		written = output_write_within(output_fd(OUTPUT_STDERR), text, size, 0);
		if (written > 0) {
			unwritten_size = size - written;
			memcpy(unwritten, text + written, unwritten_size);
		}
	}
	if (written == 0)
		atomic_fetch_add_explicit(&dropped_lines, 1, memory_order_relaxed);
	pthread_mutex_unlock(&mutex);
}

void
log_write_lines(const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n") + 1;

		if (length <= sizeof unwritten)
			log_write_text(text, length);
		text += length;
	}
}

void
log_write(enum log_level level, const char *format, ...)
{
	char text[LINE_MAX_BYTES + 1], line[4 * LINE_MAX_BYTES + 1], priority[8] = "";
	char message[sizeof line + 32];
	va_list arguments;
	int length;

	if (atomic_load_explicit(&muted, memory_order_relaxed))
		return;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof text)
		memcpy(text + sizeof text - 4, "...", 4);
	*put_foreign_text(line, text, strlen(text)) = '\0';
	if (getenv("JOURNAL_STREAM") != NULL)
		snprintf(priority, sizeof priority, "<%d>", (int)level);
	length = snprintf(message, sizeof message, "%s%.23s: %s\n", priority, program_invocation_short_name, line);
	log_write_text(message, (size_t)length);
}

uint64_t
log_dropped(void)
{
	return atomic_load_explicit(&dropped_lines, memory_order_relaxed);
}

void
log_mute(bool mute)
{
	atomic_store_explicit(&muted, mute, memory_order_relaxed);
}
