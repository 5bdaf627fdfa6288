/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct record_ring {
	pthread_mutex_t mutex;
	uint64_t taken;
	uint32_t capacity;
	struct connrec records[];
};

size_t
record_ring_memory_size(uint32_t capacity)
{
	const struct record_ring *ring = NULL;

	return capacity == 0 ? 0 : sizeof *ring + capacity * sizeof ring->records[0];
}

struct record_ring *
record_ring_new(uint32_t capacity)
{
	/* The pages of records that were never taken use no memory. */
	struct record_ring *ring = calloc(1, record_ring_memory_size(capacity));

	if (ring == NULL)
		return NULL;
	pthread_mutex_init(&ring->mutex, NULL);
	ring->capacity = capacity;
	return ring;
}

void
record_ring_free(struct record_ring *ring)
{
	if (ring == NULL)
		return;
	pthread_mutex_destroy(&ring->mutex);
	free(ring);
}

void
record_ring_take(void *context, const struct connrec *record)
{
	struct record_ring *ring = context;

	if (strcmp(record->cr_reason, "open") == 0)
		return;
	pthread_mutex_lock(&ring->mutex);
	ring->records[ring->taken++ % ring->capacity] = *record;
	pthread_mutex_unlock(&ring->mutex);
}

bool
record_ring_read(struct record_ring *ring, uint64_t *position, struct connrec *to)
{
	bool found;

	pthread_mutex_lock(&ring->mutex);
	if (ring->taken > ring->capacity && *position < ring->taken - ring->capacity)
		*position = ring->taken - ring->capacity;
	found = *position < ring->taken;
	if (found)
		*to = ring->records[(*position)++ % ring->capacity];
	pthread_mutex_unlock(&ring->mutex);
	return found;
}

uint64_t
record_ring_taken(struct record_ring *ring)
{
	uint64_t taken;

	pthread_mutex_lock(&ring->mutex);
	taken = ring->taken;
	pthread_mutex_unlock(&ring->mutex);
	return taken;
}

struct record_ring_counters
record_ring_counters(struct record_ring *ring)
{
	uint64_t taken = record_ring_taken(ring), now = taken < ring->capacity ? taken : ring->capacity;

	return (struct record_ring_counters){.now = now, .overwritten = taken - now};
}

uint32_t
record_ring_capacity(const struct record_ring *ring)
{
	return ring->capacity;
}
