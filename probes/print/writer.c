/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/print/writer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* Longest wait for the reader at the end of the output, and interval between two checks whether the process ends. */
#define FINISH_MS 400
#define CHECK_MS  50

static bool
writer_allocate(struct writer *writer, size_t size)
{
	char *buffer = realloc(writer->buffer, size + WRITER_LINE_MAX);

	if (buffer == NULL)
		return false;
	writer->buffer = buffer;
	writer->size = size;
	return true;
}

bool
writer_open(struct writer *writer, int fd)
{
	*writer = (struct writer){.fd = fd, .policy = {.write = write}};
	if (!writer_allocate(writer, WRITER_BUFFER))
		return false;
	signal(SIGPIPE, SIG_IGN);
	return true;
}

bool
writer_set_policy(struct writer *writer, const struct writer_policy *policy)
{
	writer->policy = *policy;
	return !policy->drop || writer_allocate(writer, WRITER_QUEUE);
}

int
writer_close(struct writer *writer)
{
	writer_finish(writer, FINISH_MS);
	free(writer->buffer);
	writer->buffer = NULL;
	return writer_error(writer);
}

static bool
writer_is_stopping(const struct writer *writer)
{
	return writer->policy.stopping != NULL && writer->policy.stopping();
}

static bool
writer_may_wait(const struct writer *writer)
{
	return !writer->policy.drop && !writer_is_stopping(writer);
}

static void
writer_poll(const struct writer *writer)
{
	struct pollfd ready = {.fd = writer->fd, .events = POLLOUT};

	(void)poll(&ready, 1, CHECK_MS);
}

/* Makes one write(2).  False if the descriptor is not ready. */
static bool
writer_write_once(struct writer *writer)
{
	ssize_t done = writer->policy.write(writer->fd, writer->buffer + writer->head, writer->used - writer->head);

	if (done >= 0) {
		writer->head += (size_t)done;
		return true;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return false;
	if (errno != EINTR)
		writer->error = errno;
	return true;
}

/* Writes what is buffered; waits if the policy allows it. */
static void
writer_write_all(struct writer *writer)
{
	while (writer->head < writer->used && writer->error == 0) {
		if (writer_write_once(writer))
			continue;
		if (!writer_may_wait(writer))
			return;
		writer_poll(writer);
	}
	writer->head = writer->used = 0;
}

/* Whether a part of a line has been written. */
static bool
writer_is_in_line(const struct writer *writer)
{
	return writer->head > 0 && writer->buffer[writer->head - 1] != '\n';
}

static void
writer_write_locked(struct writer *writer)
{
	struct writer_shared *shared = writer->shared;

	pthread_mutex_lock(&shared->mutex);
	if (shared->partial == NULL || shared->partial == writer) {
		writer->error = atomic_load_explicit(&shared->error, memory_order_relaxed);
		writer_write_all(writer);
		atomic_store_explicit(&shared->error, writer->error, memory_order_relaxed);
		shared->partial = writer_is_in_line(writer) ? writer : NULL;
	}
	pthread_mutex_unlock(&shared->mutex);
}

void
writer_flush(struct writer *writer)
{
	if (writer->used == 0)
		return;
	if (writer->shared != NULL)
		writer_write_locked(writer);
	else
		writer_write_all(writer);
}

static uint64_t
writer_now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

/* Drops what is buffered.  Other writers go on, even if the last line was written in part. */
static void
writer_drop_all(struct writer *writer)
{
	for (size_t i = writer->head; i < writer->used; i++)
		writer->dropped += writer->buffer[i] == '\n';
	writer->head = writer->used = 0;
	if (writer->shared == NULL)
		return;
	pthread_mutex_lock(&writer->shared->mutex);
	if (writer->shared->partial == writer)
		writer->shared->partial = NULL;
	pthread_mutex_unlock(&writer->shared->mutex);
}

void
writer_finish(struct writer *writer, uint64_t ms)
{
	uint64_t end = 0;

	for (;;) {
		writer_flush(writer);
		if (writer->used == 0)
			return;
		if (end == 0)
			end = writer_now_ms() + ms;
		if (writer_now_ms() >= end)
			break;
		writer_poll(writer);
	}
	writer_drop_all(writer);
}

char *
writer_make_space(struct writer *writer, size_t n)
{
	size_t written;

	writer_flush(writer);
	/* A quarter at least, so that copying costs little; writer_is_in_line() needs the last byte. */
	if (writer->size - writer->used < n && writer->head > writer->size / 4) {
		written = writer->head - 1;
		memmove(writer->buffer, writer->buffer + written, writer->used - written);
		writer->used -= written;
		writer->head = 1;
	}
	return writer->size - writer->used < n ? writer->buffer + writer->size : writer->buffer + writer->used;
}

void
writer_put_string(struct writer *writer, const char *string)
{
	size_t left = strlen(string);

	while (left > 0) {
		size_t n = left < WRITER_LINE_MAX ? left : WRITER_LINE_MAX;
		char *at = writer_reserve(writer, n);

		memcpy(at, string, n);
		writer_commit(writer, at + n);
		string += n;
		left -= n;
	}
}
