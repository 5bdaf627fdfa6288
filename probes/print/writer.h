/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffered output to a file descriptor; the first error is sticky.
 *
 * A line is built in place: writer_reserve() provides memory, the caller fills it, writer_commit() sets the new end.
 * After a failed write all further output is dropped, so what has been written is always a prefix of the output, up to
 * the last successful write.
 */
#ifndef NETOBS_PROBES_PRINT_WRITER_H
#define NETOBS_PROBES_PRINT_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define WRITER_BUFFER ((size_t)256 * 1024)

/* Shared by writers of several threads to one descriptor: only one writes at a time, and after an error none
 * continues. */
struct writer_shared {
	pthread_mutex_t mutex;
	_Atomic int error; /* errno of the first failed write */
};

struct writer {
	char *buffer;		      /* WRITER_BUFFER bytes */
	size_t used;
	int fd;			      /* borrowed */
	int error;		      /* errno of the first failed write, 0 while there is none */
	struct writer_shared *shared; /* borrowed; NULL if there is no other writer */
};

/* Opens a writer on `fd`, which the caller keeps.  From now on the process ignores SIGPIPE, so that a closed pipe is an
 * error (EPIPE) and not a signal.  False with errno if out of memory. */
bool writer_open(struct writer *writer, int fd);

/* Writes out what is buffered and frees the memory.  Returns writer_error(). */
int writer_close(struct writer *writer);

/* Writes out what is buffered, as one block if the descriptor is shared.  Waits while the descriptor is not ready
 * (nonblocking terminals and pipes). */
void writer_flush(struct writer *writer);

/* errno of the first failed write, EPIPE if the reader has closed the pipe; 0 if there was none. */
static inline int
writer_error(const struct writer *writer)
{
	if (writer->shared != NULL)
		return atomic_load_explicit(&writer->shared->error, memory_order_relaxed);
	return writer->error;
}

/* Reserves `n` bytes, at most WRITER_BUFFER. */
static inline char *
writer_reserve(struct writer *writer, size_t n)
{
	if (__builtin_expect(WRITER_BUFFER - writer->used < n, 0))
		writer_flush(writer);
	return writer->buffer + writer->used;
}

/* Adds the reserved bytes up to `end` to the output. */
static inline void
writer_commit(struct writer *writer, const char *end)
{
	writer->used = (size_t)(end - writer->buffer);
}

/* Writes a string of any length. */
void writer_put_string(struct writer *writer, const char *string);

#endif
