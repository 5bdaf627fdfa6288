/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of the connections that ended last, in memory of a fixed size; a new record overwrites the oldest one. */
#ifndef NETOBS_RECORDS_RECORD_RING_H
#define NETOBS_RECORDS_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/netobs.h"

struct record_ring;

/* A ring of `capacity` records, at least 1.  NULL if out of memory. */
struct record_ring *record_ring_new(uint32_t capacity);

/* NULL is allowed. */
void record_ring_free(struct record_ring *ring);

/* Takes a record, unless its reason is "open": that of a connection that has not ended.  Any thread may call it. */
void record_ring_take(void *ring, const struct connrec *record);

/*
 * Copies the first record from number `*position` on, in the order in which connections ended, and moves `*position`
 * after it.  Numbers count from 0; those of records that are overwritten are skipped.  False if there is none.
 */
bool record_ring_read(struct record_ring *ring, uint64_t *position, struct connrec *to);

/* The bytes that a ring of `capacity` records uses once all of them are taken; 0 for no record. */
size_t record_ring_memory_size(uint32_t capacity);

struct record_ring_counters {
	uint64_t now;	      /* records in the ring */
	uint64_t overwritten; /* since the start */
	uint64_t latest_lost; /* the latest end of these, ns since the epoch; records are not in the order of ends */
};

struct record_ring_counters record_ring_counters(struct record_ring *ring);

uint32_t record_ring_capacity(const struct record_ring *ring);

#endif
