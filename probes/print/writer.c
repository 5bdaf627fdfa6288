/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffered output; the first error is sticky. */
#include "probes/print/writer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
writer_open(struct writer *writer, int fd)
{
	*writer = (struct writer){.buffer = malloc(WRITER_BUFFER), .fd = fd};
	if (writer->buffer == NULL)
		return false;
	signal(SIGPIPE, SIG_IGN);
	return true;
}

int
writer_close(struct writer *writer)
{
	writer_flush(writer);
	free(writer->buffer);
	writer->buffer = NULL;
	return writer_error(writer);
}

/* Makes one write(2); returns 0 if it has to be repeated. */
static size_t
writer_write_once(struct writer *writer, const char *from, size_t n)
{
	ssize_t done = write(writer->fd, from, n);

	if (done >= 0)
		return (size_t)done;
	if (errno == EAGAIN || errno == EWOULDBLOCK) {
		struct pollfd ready = {.fd = writer->fd, .events = POLLOUT};

		poll(&ready, 1, -1);
	} else if (errno != EINTR) {
		writer->error = errno;
	}
	return 0;
}

static void
writer_write_all(struct writer *writer)
{
	size_t done = 0;

	while (done < writer->used && writer->error == 0)
		done += writer_write_once(writer, writer->buffer + done, writer->used - done);
}

static void
writer_write_locked(struct writer *writer)
{
	struct writer_shared *shared = writer->shared;

	pthread_mutex_lock(&shared->mutex);
	writer->error = atomic_load_explicit(&shared->error, memory_order_relaxed);
	writer_write_all(writer);
	atomic_store_explicit(&shared->error, writer->error, memory_order_relaxed);
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
	writer->used = 0;
}

void
writer_put_string(struct writer *writer, const char *string)
{
	size_t left = strlen(string);

	while (left > 0) {
		size_t n = left < WRITER_BUFFER ? left : WRITER_BUFFER;
		char *at = writer_reserve(writer, n);

		memcpy(at, string, n);
		writer_commit(writer, at + n);
		string += n;
		left -= n;
	}
}
