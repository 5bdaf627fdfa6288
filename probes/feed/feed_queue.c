/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/feed/feed_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define GAP_LINE_MAX 40

bool
feed_queue_open(struct feed_queue *queue, size_t size)
{
	*queue = (struct feed_queue){.size = size};
	queue->bytes = malloc(size);
	return queue->bytes != NULL;
}

void
feed_queue_close(struct feed_queue *queue)
{
	free(queue->bytes);
	queue->bytes = NULL;
}

/* Only the calling thread writes the counter. */
static void
queue_count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* ----------------------------------------------------------------------------------------------------------- adding */

static bool
queue_has_space(struct feed_queue *queue, size_t added, size_t needed)
{
	if (queue->size - (added - queue->known_removed) >= needed)
		return true;
	queue->known_removed = atomic_load_explicit(&queue->removed, memory_order_acquire);
	return queue->size - (added - queue->known_removed) >= needed;
}

/* Copies bytes to the end; returns the new end. */
static size_t
queue_copy(struct feed_queue *queue, size_t added, const char *bytes, size_t length)
{
	size_t at = added & (queue->size - 1), first = queue->size - at;

	if (first > length)
		first = length;
	memcpy(queue->bytes + at, bytes, first);
	memcpy(queue->bytes, bytes + first, length - first);
	return added + length;
}

static size_t
queue_copy_gap_line(struct feed_queue *queue, size_t added)
{
	char line[GAP_LINE_MAX], *at = put_json_key(line, '{', "lost");

	at = put_u64(at, queue->gap);
	at = PUT(at, "}\n");
	queue->gap = 0;
	return queue_copy(queue, added, line, (size_t)(at - line));
}

void
feed_queue_add(struct feed_queue *queue, const char *line, size_t length)
{
	size_t added = atomic_load_explicit(&queue->added, memory_order_relaxed);

	queue_count(&queue->lines);
	if (!queue_has_space(queue, added, queue->gap == 0 ? length : queue->size / 4 + GAP_LINE_MAX + length)) {
		queue->gap++;
		queue_count(&queue->dropped);
		return;
	}
	if (queue->gap != 0)
		added = queue_copy_gap_line(queue, added);
	added = queue_copy(queue, added, line, length);
	atomic_store_explicit(&queue->added, added, memory_order_release);
}

bool
feed_queue_drop(struct feed_queue *queue)
{
	size_t added = atomic_load_explicit(&queue->added, memory_order_relaxed);

	if (queue->gap == 0 || queue_has_space(queue, added, queue->size / 4 + GAP_LINE_MAX))
		return false;
	queue->gap++;
	queue_count(&queue->lines);
	queue_count(&queue->dropped);
	return true;
}

bool
feed_queue_end_gap(struct feed_queue *queue)
{
	size_t added = atomic_load_explicit(&queue->added, memory_order_relaxed);

	if (queue->gap == 0)
		return true;
	if (!queue_has_space(queue, added, queue->size / 4 + GAP_LINE_MAX))
		return false;
	atomic_store_explicit(&queue->added, queue_copy_gap_line(queue, added), memory_order_release);
	return true;
}

/* --------------------------------------------------------------------------------------------------------- removing */

size_t
feed_queue_used(const struct feed_queue *queue)
{
	return atomic_load_explicit(&queue->added, memory_order_acquire) -
	       atomic_load_explicit(&queue->removed, memory_order_relaxed);
}

size_t
feed_queue_peek(const struct feed_queue *queue, const char **bytes)
{
	size_t at = atomic_load_explicit(&queue->removed, memory_order_relaxed) & (queue->size - 1);
	size_t used = feed_queue_used(queue), piece = queue->size - at;

	*bytes = queue->bytes + at;
	return used < piece ? used : piece;
}

void
feed_queue_remove(struct feed_queue *queue, size_t count)
{
	atomic_store_explicit(&queue->removed, atomic_load_explicit(&queue->removed, memory_order_relaxed) + count,
			      memory_order_release);
}
