/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file/reader_threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

#define BUFFER_BYTES (128u * 1024) /* per read */
#define BUFFERS	     8u		   /* per file */

struct read_buffer {
	ssize_t length; /* the source's result */
	_Alignas(64) uint8_t bytes[BUFFER_BYTES];
};

/* All but `source`, `context` and the buffers is protected by the threads' mutex. */
struct read_queue {
	struct reader_threads *threads;
	read_queue_source *source;
	void *context;
	pthread_cond_t readable; /* a buffer was filled */
	uint32_t filled;	 /* buffers filled so far */
	uint32_t taken;		 /* buffers taken so far; the main thread still uses the last one */
	bool busy;		 /* a thread fills a buffer */
	bool ended;		 /* the source has returned 0 or -1 */
	struct read_buffer buffers[BUFFERS];
};

struct reader_threads {
	pthread_mutex_t mutex;
	pthread_cond_t work; /* a queue has space, or the threads must end */
	bool stop;
	unsigned started, count; /* threads; queues */
	pthread_t *threads;
	struct read_queue *queues[];
};

/* The taken buffer that is still used counts as well. */
static uint32_t
read_queue_used(const struct read_queue *queue)
{
	return queue->filled - queue->taken + (queue->taken > 0);
}

/* Reads into the next buffer.  The mutex is locked, but not while the source reads. */
static void
read_queue_fill(struct read_queue *queue)
{
	struct read_buffer *buffer = &queue->buffers[queue->filled % BUFFERS];
	pthread_mutex_t *mutex = &queue->threads->mutex;

	queue->busy = true;
	pthread_mutex_unlock(mutex);
	buffer->length = queue->source(queue->context, buffer->bytes, sizeof buffer->bytes);
	pthread_mutex_lock(mutex);
	queue->busy = false;
	queue->ended = buffer->length <= 0;
	queue->filled++;
	pthread_cond_signal(&queue->readable);
}

/* ----------------------------------------------------------------------------------------------------- the threads */

/* The file of which the least is read ahead; NULL if all queues are full, or their files have ended or are being read
 * by other threads. */
static struct read_queue *
reader_threads_find_work(const struct reader_threads *threads)
{
	struct read_queue *found = NULL;

	for (unsigned i = 0; i < threads->count; i++) {
		struct read_queue *queue = threads->queues[i];

		if (!queue->busy && !queue->ended && read_queue_used(queue) < BUFFERS &&
		    (found == NULL || read_queue_used(queue) < read_queue_used(found)))
			found = queue;
	}
	return found;
}

static void *
reader_thread_main(void *context)
{
	struct reader_threads *threads = context;

	pthread_setname_np(pthread_self(), "netobs-reader");
	pthread_mutex_lock(&threads->mutex);
	while (!threads->stop) {
		struct read_queue *queue = reader_threads_find_work(threads);

		if (queue != NULL)
			read_queue_fill(queue);
		else
			pthread_cond_wait(&threads->work, &threads->mutex);
	}
	pthread_mutex_unlock(&threads->mutex);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------- the main thread */

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
	pthread_mutex_init(&threads->mutex, NULL);
	pthread_cond_init(&threads->work, NULL);
	return threads;
}

struct read_queue *
reader_threads_add(struct reader_threads *threads, read_queue_source *source, void *context)
{
	struct read_queue *queue = aligned_alloc(_Alignof(struct read_queue), sizeof *queue);

	if (queue == NULL)
		return NULL;
	memset(queue, 0, offsetof(struct read_queue, buffers));
	pthread_cond_init(&queue->readable, NULL);
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

unsigned
reader_threads_started(const struct reader_threads *threads)
{
	return threads->started;
}

static void
read_queue_free(struct read_queue *queue)
{
	pthread_cond_destroy(&queue->readable);
	free(queue);
}

void
reader_threads_free(struct reader_threads *threads)
{
	if (threads == NULL)
		return;
	pthread_mutex_lock(&threads->mutex);
	threads->stop = true;
	pthread_cond_broadcast(&threads->work);
	pthread_mutex_unlock(&threads->mutex);
	for (unsigned i = 0; i < threads->started; i++)
		pthread_join(threads->threads[i], NULL);
	for (unsigned i = 0; i < threads->count; i++)
		read_queue_free(threads->queues[i]);
	pthread_cond_destroy(&threads->work);
	pthread_mutex_destroy(&threads->mutex);
	free(threads->threads);
	free(threads);
}

/* Waits until a buffer is filled that the main thread has not taken. */
static const struct read_buffer *
read_queue_wait(struct read_queue *queue)
{
	if (queue->threads->started == 0 && !queue->ended)
		read_queue_fill(queue);
	while (queue->filled == queue->taken)
		pthread_cond_wait(&queue->readable, &queue->threads->mutex);
	return &queue->buffers[queue->taken % BUFFERS];
}

ssize_t
read_queue_next(struct read_queue *queue, const uint8_t **bytes)
{
	struct reader_threads *threads = queue->threads;
	const struct read_buffer *buffer;

	pthread_mutex_lock(&threads->mutex);
	buffer = read_queue_wait(queue);
	if (buffer->length > 0) { /* the end is not taken, so that the next call finds it again */
		queue->taken++;
		*bytes = buffer->bytes;
		/* A thread that is woken for every buffer would sleep again at once. */
		if (read_queue_used(queue) <= BUFFERS / 2)
			pthread_cond_signal(&threads->work);
	}
	pthread_mutex_unlock(&threads->mutex);
	return buffer->length;
}
