/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that read capture files ahead, and decompress them, while the main thread observes the frames of the bytes
 * before.  Each file has a queue of buffers, and the main thread gets the bytes in the order of the file: the result is
 * the same with any number of threads.
 *
 * Call in this order: reader_threads_new(), reader_threads_add() for each file, reader_threads_start().
 */
#ifndef NETOBS_CAPTURE_FILE_READER_THREADS_H
#define NETOBS_CAPTURE_FILE_READER_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reader_threads;
struct read_queue;

/* Reads the next bytes of a file, at most `size`.  0 at the end, -1 on an error; it is not called again after either.
 * Runs in any of the threads, in one at a time. */
typedef ssize_t read_queue_source(void *context, void *to, size_t size);

/* For at most `files` files.  NULL if out of memory. */
struct reader_threads *reader_threads_new(size_t files);

/* Adds a file.  Its queue belongs to the threads; NULL if out of memory. */
struct read_queue *reader_threads_add(struct reader_threads *threads, read_queue_source *source, void *context);

/* Starts `count` threads, but not more than there are files.  0, or an error number if not all could be started: those
 * that run read all files; if none runs, read_queue_next() reads. */
int reader_threads_start(struct reader_threads *threads, unsigned count);

/* Threads that run. */
unsigned reader_threads_started(const struct reader_threads *threads);

/* Ends the threads, and frees the queues; call it before the contexts of the sources are freed.  NULL is allowed. */
void reader_threads_free(struct reader_threads *threads);

/* Waits for the next bytes of a file.  Returns their number and points *bytes at them; they are valid until the next
 * call.  0 at the end and -1 on an error of the source. */
ssize_t read_queue_next(struct read_queue *queue, const uint8_t **bytes);

#endif
