/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffered output to a file descriptor; the first error is sticky.
 *
 * A line is built in place: writer_reserve() provides memory, the caller fills it, writer_commit() sets the new end.
 * After a failed write all further output is dropped, so what has been written is always a prefix of the output, up to
 * the last successful write.  While nothing reads the descriptor, the writer waits, or drops whole lines and counts
 * them (struct writer_policy).
 */
#ifndef NETOBS_PROBES_PRINT_WRITER_H
#define NETOBS_PROBES_PRINT_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Buffered bytes: if the writer waits for the reader; if lines are dropped instead. */
#define WRITER_BUFFER ((size_t)256 * 1024)
#define WRITER_QUEUE  ((size_t)4 * 1024 * 1024)

/* Longest text of one writer_reserve(). */
#define WRITER_LINE_MAX ((size_t)16 * 1024)

/* What happens while the reader is slow.  Without a policy the writer waits. */
struct writer_policy {
	ssize_t (*write)(int fd, const void *from, size_t n); /* as write(2), but EAGAIN instead of waiting */
	bool (*stopping)(void);				      /* the process ends: do not wait any longer */
	bool drop;					      /* drop lines rather than wait */
};

/* Shared by writers of several threads to one descriptor: only one writes at a time, and after an error none
 * continues. */
struct writer_shared {
	pthread_mutex_t mutex;
	_Atomic int error; /* errno of the first failed write */
	const struct writer *partial; /* has written a part of a line: it goes on before any other; NULL none */
};

struct writer {
	char *buffer; /* `size` bytes, and WRITER_LINE_MAX for a line that is dropped */
	size_t size;
	size_t head; /* bytes of the buffer that have been written */
	size_t used;
	uint64_t dropped; /* lines */
	struct writer_policy policy;
	int fd;			      /* borrowed */
	int error;		      /* errno of the first failed write, 0 while there is none */
	struct writer_shared *shared; /* borrowed; NULL if there is no other writer */
};

/* Opens a writer on `fd`, which the caller keeps.  From now on the process ignores SIGPIPE, so that a closed pipe is an
 * error (EPIPE) and not a signal.  False with errno if out of memory. */
bool writer_open(struct writer *writer, int fd);

/* Sets the policy.  False with errno if out of memory. */
bool writer_set_policy(struct writer *writer, const struct writer_policy *policy);

/* Writes out what is buffered and frees the memory.  Returns writer_error(). */
int writer_close(struct writer *writer);

/* Writes out what is buffered, as one block if the descriptor is shared.  Waits while the descriptor is not ready,
 * unless the policy forbids it; then a part stays in the buffer. */
void writer_flush(struct writer *writer);

/* Writes out what is buffered, at the end of the output: if the policy forbids waiting, waits for `ms` at most and
 * drops the rest. */
void writer_finish(struct writer *writer, uint64_t ms);

/* errno of the first failed write, EPIPE if the reader has closed the pipe; 0 if there was none. */
static inline int
writer_error(const struct writer *writer)
{
	if (writer->shared != NULL)
		return atomic_load_explicit(&writer->shared->error, memory_order_relaxed);
	return writer->error;
}

/* writer_reserve() if the buffer is full: makes space.  Memory past the buffer if there is no space. */
char *writer_make_space(struct writer *writer, size_t n);

/* Reserves `n` bytes, at most WRITER_LINE_MAX. */
static inline char *
writer_reserve(struct writer *writer, size_t n)
{
	if (__builtin_expect(writer->size - writer->used < n, 0))
		return writer_make_space(writer, n);
	return writer->buffer + writer->used;
}

/* Adds the reserved bytes up to `end` to the output, or drops them if the buffer is full. */
static inline void
writer_commit(struct writer *writer, const char *end)
{
	size_t used = (size_t)(end - writer->buffer);

	if (__builtin_expect(used > writer->size, 0))
		writer->dropped++;
	else
		writer->used = used;
}

/* Writes a string of any length. */
void writer_put_string(struct writer *writer, const char *string);

#endif
