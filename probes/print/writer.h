/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffered output to a file descriptor that remembers its first error.
 *
 * A line is built in place: writer_reserve() makes room, the caller fills it, writer_commit() says how far.  Once
 * something could not be written everything after it is dropped, so the output is always a whole prefix of what was
 * printed, up to the last write of the kernel.
 */
#ifndef NETOBS_PROBES_PRINT_WRITER_H
#define NETOBS_PROBES_PRINT_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define WRITER_BUFFER ((size_t)256 * 1024)

/* What writers of several threads to one descriptor have in common: one writes out at a time, and none goes on where
 * another could not. */
struct writer_turn {
	pthread_mutex_t mutex;
	_Atomic int error; /* errno of the first failed write */
};

struct writer {
	char *buffer; /* WRITER_BUFFER bytes */
	size_t used;
	int fd;	   /* borrowed */
	int error; /* errno of the first failed write, 0 while there is none */
	struct writer_turn *turn; /* borrowed; NULL where nobody else writes */
};

/* Starts a writer on `fd`, which stays the caller's.  From now on the process ignores SIGPIPE, so that a reader who
 * goes away is an error (EPIPE) and not a signal.  False with errno if memory cannot be had. */
bool writer_open(struct writer *writer, int fd);

/* Writes out what is buffered and gives the memory back.  Returns writer_failed(). */
int writer_close(struct writer *writer);

/* Writes out what is buffered, in one piece where writers take turns.  Waits where the descriptor is not ready
 * (nonblocking terminals and pipes). */
void writer_flush(struct writer *writer);

/* errno of the first failed write, EPIPE where the reader went away; 0 if all went well so far. */
static inline int
writer_failed(const struct writer *writer)
{
	if (writer->turn != NULL)
		return atomic_load_explicit(&writer->turn->error, memory_order_relaxed);
	return writer->error;
}

/* Room for `n` bytes, at most WRITER_BUFFER. */
static inline char *
writer_reserve(struct writer *writer, size_t n)
{
	if (__builtin_expect(WRITER_BUFFER - writer->used < n, 0))
		writer_flush(writer);
	return writer->buffer + writer->used;
}

/* The reserved room is filled up to `end`. */
static inline void
writer_commit(struct writer *writer, const char *end)
{
	writer->used = (size_t)(end - writer->buffer);
}

/* A string, of any length. */
void writer_string(struct writer *writer, const char *string);

#endif
