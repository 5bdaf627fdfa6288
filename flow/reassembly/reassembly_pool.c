/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots, blocks and pieces, and the look-up of a datagram by its key. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>

#include "flow/reassembly/reassembly_pool.h"

/* Indices are 16 bits wide; 0 means none. */
#define INDICES 65534u

static uint32_t
blocks_for(const struct reassembly_limits *limits)
{
	return limits->bytes / BLOCK_SIZE;
}

/* Number of hash buckets: a power of two, at least the number of datagrams. */
static uint32_t
buckets_for(const struct reassembly_limits *limits)
{
	uint32_t buckets = 16;

	while (buckets < limits->datagrams)
		buckets *= 2;
	return buckets;
}

size_t
reassembly_memory(const struct reassembly_limits *limits)
{
	return sizeof(struct reassembly) + (limits->datagrams + 1) * sizeof(struct datagram) +
	       (size_t)(blocks_for(limits) + 1) * (BLOCK_SIZE + sizeof(uint16_t)) +
	       (PIECES + 1) * sizeof(struct piece) + buckets_for(limits) * sizeof(uint16_t);
}

static bool
limits_hold(const struct reassembly_limits *limits)
{
	return limits->datagrams >= 1 && limits->datagrams <= INDICES &&
	       blocks_for(limits) >= DATAGRAM_BLOCKS && blocks_for(limits) <= INDICES &&
	       limits->fragments >= 2 && limits->fragments <= (DATAGRAM_MAX + 1) / 8;
}

static void
start(struct reassembly *r)
{
	memset(r->buckets, 0, (r->bucket_mask + 1) * sizeof *r->buckets);
	r->slots_free = r->limits.datagrams;
	r->blocks_free = blocks_for(&r->limits);
	r->pieces_free = PIECES;
	r->slot_top = r->block_top = r->piece_top = 0;
	r->slot_spare = r->block_spare = r->piece_spare = 0;
	r->ages[0] = r->ages[1] = (struct fifo){0, 0};
	r->next_due = UINT64_MAX;
	r->counters.datagrams = r->counters.bytes = 0;
}

struct reassembly *
reassembly_new(const struct reassembly_limits *limits, uint64_t seed, reassembly_report *report, void *context)
{
	struct reassembly *r;

	if (!limits_hold(limits)) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->limits = *limits;
	r->seed = seed;
	r->report = report;
	r->context = context;
	r->bucket_mask = buckets_for(limits) - 1;
	r->slots = calloc(limits->datagrams + 1, sizeof *r->slots);
	r->bytes = calloc(blocks_for(limits) + 1, BLOCK_SIZE);
	r->block_next = calloc(blocks_for(limits) + 1, sizeof *r->block_next);
	r->pieces = calloc(PIECES + 1, sizeof *r->pieces);
	r->buckets = calloc(r->bucket_mask + 1, sizeof *r->buckets);
	if (r->slots == NULL || r->bytes == NULL || r->block_next == NULL || r->pieces == NULL || r->buckets == NULL) {
		reassembly_free(r);
		errno = ENOMEM;
		return NULL;
	}
	start(r);
	return r;
}

void
reassembly_free(struct reassembly *r)
{
	if (r == NULL)
		return;
	free(r->slots);
	free(r->bytes);
	free(r->block_next);
	free(r->pieces);
	free(r->buckets);
	free(r);
}

void
reassembly_clear(struct reassembly *r)
{
	start(r);
}

/* --- keys and lists by age --- */

static uint32_t
bucket_of(const struct reassembly *r, const struct datagram_key *key)
{
	return (uint32_t)(XXH3_64bits_withSeed(key, sizeof *key, r->seed) >> 32) & r->bucket_mask;
}

struct datagram *
pool_find(struct reassembly *r, const struct datagram_key *key)
{
	uint16_t index = r->buckets[bucket_of(r, key)];

	while (index != 0 && memcmp(&r->slots[index].key, key, sizeof *key) != 0)
		index = r->slots[index].chain;
	return index == 0 ? NULL : datagram_at(r, index);
}

static struct fifo *
fifo_of(struct reassembly *r, const struct datagram *d)
{
	return &r->ages[d->key.version == 6];
}

static void
fifo_append(struct reassembly *r, struct datagram *d)
{
	struct fifo *fifo = fifo_of(r, d);
	uint16_t index = datagram_index(r, d);

	d->next = 0;
	d->prev = fifo->tail;
	if (fifo->tail != 0)
		r->slots[fifo->tail].next = index;
	else
		fifo->head = index;
	fifo->tail = index;
}

static void
fifo_remove(struct reassembly *r, const struct datagram *d)
{
	struct fifo *fifo = fifo_of(r, d);

	if (d->prev != 0)
		r->slots[d->prev].next = d->next;
	else
		fifo->head = d->next;
	if (d->next != 0)
		r->slots[d->next].prev = d->prev;
	else
		fifo->tail = d->prev;
}

struct datagram *
pool_create(struct reassembly *r, const struct datagram_key *key, uint64_t now)
{
	uint16_t index = r->slot_spare != 0 ? r->slot_spare : (uint16_t)++r->slot_top;
	struct datagram *d = datagram_at(r, index);
	uint32_t bucket = bucket_of(r, key);

	if (index == r->slot_spare)
		r->slot_spare = d->chain;
	*d = (struct datagram){.key = *key, .since = now, .bucket = bucket, .chain = r->buckets[bucket]};
	r->buckets[bucket] = index;
	r->slots_free--;
	fifo_append(r, d);
	r->counters.datagrams++;
	return d;
}

void
pool_remove(struct reassembly *r, struct datagram *d)
{
	uint16_t index = datagram_index(r, d);
	uint16_t *link = &r->buckets[d->bucket];

	pool_empty(r, d);
	while (*link != index)
		link = &r->slots[*link].chain;
	*link = d->chain;
	fifo_remove(r, d);
	d->chain = r->slot_spare;
	r->slot_spare = index;
	r->slots_free++;
	r->counters.datagrams--;
}

void
pool_empty(struct reassembly *r, struct datagram *d)
{
	for (unsigned i = 0; i < DATAGRAM_BLOCKS && d->blocks > 0; i++) {
		if (d->block[i] == 0)
			continue;
		r->block_next[d->block[i]] = r->block_spare;
		r->block_spare = d->block[i];
		d->block[i] = 0;
		d->blocks--;
		r->blocks_free++;
		r->counters.bytes -= BLOCK_SIZE;
	}
	if (d->tail != 0) {
		r->pieces[d->tail].next = r->piece_spare;
		r->piece_spare = d->head;
		r->pieces_free += d->count;
	}
	d->head = d->tail = d->count = 0;
}

uint16_t
pool_take_piece(struct reassembly *r)
{
	uint16_t index = r->piece_spare;

	r->pieces_free--;
	if (index == 0)
		return (uint16_t)++r->piece_top;
	r->piece_spare = r->pieces[index].next;
	return index;
}

/* --- bytes --- */

uint32_t
pool_blocks_missing(const struct datagram *d, uint32_t offset, uint32_t length)
{
	uint32_t missing = 0;

	if (length == 0)
		return 0;
	for (uint32_t i = offset / BLOCK_SIZE; i <= (offset + length - 1) / BLOCK_SIZE; i++)
		missing += d->block[i] == 0;
	return missing;
}

static uint16_t
take_block(struct reassembly *r, struct datagram *d)
{
	uint16_t index = r->block_spare;

	if (index == 0)
		index = (uint16_t)++r->block_top;
	else
		r->block_spare = r->block_next[index];
	r->blocks_free--;
	r->counters.bytes += BLOCK_SIZE;
	d->blocks++;
	return index;
}

/* Length of the part of a run that lies in one block. */
static uint32_t
part_in_block(uint32_t offset, uint32_t left)
{
	uint32_t room = BLOCK_SIZE - offset % BLOCK_SIZE;

	return left < room ? left : room;
}

void
pool_write(struct reassembly *r, struct datagram *d, uint32_t offset, struct view bytes)
{
	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		uint32_t place = offset + done;
		uint16_t *block = &d->block[place / BLOCK_SIZE];

		n = part_in_block(place, bytes.len - done);
		if (*block == 0)
			*block = take_block(r, d);
		view_copy(bytes, done, r->bytes + (size_t)*block * BLOCK_SIZE + place % BLOCK_SIZE, n);
	}
}

bool
pool_same(const struct reassembly *r, const struct datagram *d, uint32_t offset, struct view bytes)
{
	uint8_t other[BLOCK_SIZE];

	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		uint32_t place = offset + done;

		n = part_in_block(place, bytes.len - done);
		view_copy(bytes, done, other, n);
		if (memcmp(r->bytes + (size_t)d->block[place / BLOCK_SIZE] * BLOCK_SIZE + place % BLOCK_SIZE, other,
			   n) != 0)
			return false;
	}
	return true;
}

void
pool_read(const struct reassembly *r, const struct datagram *d, uint8_t *to, uint32_t length)
{
	for (uint32_t done = 0, n; done < length; done += n) {
		n = part_in_block(done, length - done);
		memcpy(to + done, r->bytes + (size_t)d->block[done / BLOCK_SIZE] * BLOCK_SIZE, n);
	}
}
