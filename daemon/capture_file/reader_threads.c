/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/capture_file/reader_threads.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/thread.h"

/* Bytes per read, and buffers per file: together they fit into the second-level cache. */
#define BUFFER_BYTES (128u * 1024)
#define BUFFERS	     8u

struct read_buffer {
	ssize_t length; /* the source's result */
	_Alignas(64) uint8_t bytes[BUFFER_BYTES];
};

struct read_queue {
	struct reader_threads *threads;
	read_queue_source *source;
	void *context;
	atomic_flag busy; /* a thread reads this file */
	bool ended;	  /* the source has returned 0 or -1; used by the thread that has set `busy` */

	_Alignas(64) _Atomic uint32_t filled;	/* buffers filled so far; written by the reader threads */
	sem_t readable;				/* filled buffers that the main thread has not taken */
	_Alignas(64) _Atomic uint32_t released; /* buffers given back; written by the main thread */
	uint32_t taken; /* buffers that the main thread has taken, of which it still uses the last */
	struct read_buffer buffers[BUFFERS];
};

struct reader_threads {
	sem_t wanted; /* a queue has space, or the threads are to end */
	atomic_bool stop;
	unsigned started, count; /* threads; queues */
	pthread_t *threads;
	struct read_queue *queues[];
};

/* ------------------------------------------------------------------------------------------------ the threads' part */

static bool
read_queue_has_space(const struct read_queue *queue)
{
	return atomic_load_explicit(&queue->filled, memory_order_relaxed) -
		   atomic_load_explicit(&queue->released, memory_order_acquire) <
	       BUFFERS;
}

static void
read_queue_fill(struct read_queue *queue)
{
	uint32_t filled = atomic_load_explicit(&queue->filled, memory_order_relaxed);
	struct read_buffer *buffer = &queue->buffers[filled % BUFFERS];

	buffer->length = queue->source(queue->context, buffer->bytes, sizeof buffer->bytes);
	queue->ended = buffer->length <= 0;
	atomic_store_explicit(&queue->filled, filled + 1, memory_order_release);
	sem_post(&queue->readable);
}

/* Fills a buffer of each file that has space and that no other thread reads.  False if there was none. */
static bool
reader_thread_fill(struct reader_threads *threads)
{
	bool any = false;

	for (unsigned i = 0; i < threads->count; i++) {
		struct read_queue *queue = threads->queues[i];

		if (atomic_flag_test_and_set_explicit(&queue->busy, memory_order_acquire))
			continue;
		if (!queue->ended && read_queue_has_space(queue)) {
			read_queue_fill(queue);
			any = true;
		}
		atomic_flag_clear_explicit(&queue->busy, memory_order_release);
	}
	return any;
}

static void *
reader_thread_main(void *context)
{
	struct reader_threads *threads = context;

	pthread_setname_np(pthread_self(), "netobs-reader");
	while (!atomic_load_explicit(&threads->stop, memory_order_acquire))
		if (!reader_thread_fill(threads))
			sem_wait(&threads->wanted);
	return NULL;
}

/* ------------------------------------------------------------------------------------------- the main thread's part */

struct reader_threads *
reader_threads_new(size_t files)
{
	struct reader_threads *threads = calloc(1, sizeof *threads + files * sizeof threads->queues[0]);

	if (threads == NULL)
		return NULL;
	threads->threads = calloc(files, sizeof *threads->threads);
	if (threads->threads == NULL) {
		free(threads);
		return NULL;
	}
	sem_init(&threads->wanted, 0, 0);
	return threads;
}

struct read_queue *
reader_threads_add(struct reader_threads *threads, read_queue_source *source, void *context)
{
	struct read_queue *queue = aligned_alloc(_Alignof(struct read_queue), sizeof *queue);

	if (queue == NULL)
		return NULL;
	memset(queue, 0, offsetof(struct read_queue, buffers));
	sem_init(&queue->readable, 0, 0);
	queue->threads = threads;
	queue->source = source;
	queue->context = context;
	threads->queues[threads->count++] = queue;
	return queue;
}

int
reader_threads_start(struct reader_threads *threads, unsigned count)
{
	int error;

	for (unsigned i = 0; i < count && i < threads->count; i++) {
		error = thread_start(&threads->threads[i], THREAD_READER, reader_thread_main, threads);
		if (error != 0)
			return error;
		threads->started++;
	}
	return 0;
}

static void
read_queue_free(struct read_queue *queue)
{
	sem_destroy(&queue->readable);
	free(queue);
}

void
reader_threads_free(struct reader_threads *threads)
{
	if (threads == NULL)
		return;
	atomic_store_explicit(&threads->stop, true, memory_order_release);
	for (unsigned i = 0; i < threads->started; i++)
		sem_post(&threads->wanted);
	for (unsigned i = 0; i < threads->started; i++)
		pthread_join(threads->threads[i], NULL);
	for (unsigned i = 0; i < threads->count; i++)
		read_queue_free(threads->queues[i]);
	sem_destroy(&threads->wanted);
	free(threads->threads);
	free(threads);
}

/* Lets the threads fill a buffer again.  They are woken when half of the queue is free: woken for every buffer, they
 * would sleep again at once. */
static void
read_queue_release(struct read_queue *queue)
{
	uint32_t released = atomic_load_explicit(&queue->released, memory_order_relaxed) + 1;

	atomic_store_explicit(&queue->released, released, memory_order_release);
	if (atomic_load_explicit(&queue->filled, memory_order_relaxed) - released <= BUFFERS / 2)
		sem_post(&queue->threads->wanted);
}

ssize_t
read_queue_next(struct read_queue *queue, const uint8_t **bytes)
{
	const struct read_buffer *buffer = &queue->buffers[queue->taken % BUFFERS];

	if (queue->threads->started == 0 && !queue->ended)
		read_queue_fill(queue);
	while (sem_wait(&queue->readable) != 0)
		continue; /* interrupted by a signal */
	if (buffer->length <= 0) {
		sem_post(&queue->readable); /* for the next call */
		return buffer->length;
	}
	if (queue->taken++ > 0)
		read_queue_release(queue);
	*bytes = buffer->bytes;
	return buffer->length;
}
