/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct record_ring {
	pthread_mutex_t mutex;
	uint64_t taken, latest_lost;
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
	struct connrec *place;

	if (strcmp(record->cr_reason, "open") == 0)
		return;
	pthread_mutex_lock(&ring->mutex);
	place = &ring->records[ring->taken % ring->capacity];
	if (ring->taken++ >= ring->capacity && place->cr_end > ring->latest_lost)
		ring->latest_lost = place->cr_end;
	*place = *record;
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

struct record_ring_counters
record_ring_counters(struct record_ring *ring)
{
	struct record_ring_counters counters;

	pthread_mutex_lock(&ring->mutex);
	counters.now = ring->taken < ring->capacity ? ring->taken : ring->capacity;
	counters.overwritten = ring->taken - counters.now;
	counters.latest_lost = ring->latest_lost;
	pthread_mutex_unlock(&ring->mutex);
	return counters;
}

uint32_t
record_ring_capacity(const struct record_ring *ring)
{
	return ring->capacity;
}
