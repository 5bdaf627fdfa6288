/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams, blocks and fragments in memory, and the lookup of a datagram by its key. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>

#include "flow/reassembly/reassembly_pool.h"

/* Indices are 16 bits wide; 0 means none. */
#define INDEX_MAX 65534u

/* Entries of the arrays that such an index selects from. */
#define FRAGMENT_INDEX_SPACE ((size_t)FRAGMENTS_MAX + 1)

static size_t
datagram_index_space(const struct reassembly_limits *limits)
{
	return (size_t)limits->datagrams + 1;
}

static uint32_t
reassembly_blocks_for(const struct reassembly_limits *limits)
{
	return limits->bytes / BLOCK_SIZE;
}

static size_t
block_index_space(const struct reassembly_limits *limits)
{
	return (size_t)reassembly_blocks_for(limits) + 1;
}

/* Number of hash buckets: a power of two, at least the number of datagrams. */
static uint32_t
reassembly_buckets_for(const struct reassembly_limits *limits)
{
	uint32_t buckets = 16;

	while (buckets < limits->datagrams)
		buckets *= 2;
	return buckets;
}

size_t
reassembly_memory_size(const struct reassembly_limits *limits)
{
	return sizeof(struct reassembly) + datagram_index_space(limits) * sizeof(struct datagram) +
	       block_index_space(limits) * (BLOCK_SIZE + sizeof(uint16_t)) +
	       FRAGMENT_INDEX_SPACE * sizeof(struct stored_fragment) +
	       reassembly_buckets_for(limits) * sizeof(uint16_t);
}

static bool
reassembly_limits_are_valid(const struct reassembly_limits *limits)
{
	return limits->datagrams >= 1 && limits->datagrams <= INDEX_MAX &&
	       reassembly_blocks_for(limits) >= DATAGRAM_BLOCKS &&
	       reassembly_blocks_for(limits) <= INDEX_MAX &&
	       limits->fragments >= 2 && limits->fragments <= (DATAGRAM_MAX + 1) / 8;
}

static void
reassembly_reset(struct reassembly *r)
{
	memset(r->buckets, 0, (r->bucket_mask + 1) * sizeof *r->buckets);
	r->datagrams_free = r->limits.datagrams;
	r->blocks_free = reassembly_blocks_for(&r->limits);
	r->fragments_free = FRAGMENTS_MAX;
	r->datagram_high_water = r->block_high_water = r->fragment_high_water = 0;
	r->datagram_free_head = r->block_free_head = r->fragment_free_head = 0;
	r->fifo[0] = r->fifo[1] = (struct datagram_fifo){0, 0};
	r->next_due = UINT64_MAX;
	r->counters.datagrams = r->counters.bytes = 0;
}

struct reassembly *
reassembly_new(const struct reassembly_limits *limits, uint64_t seed, reassembly_report *report, void *context)
{
	struct reassembly *r;

	if (!reassembly_limits_are_valid(limits)) {
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
	r->bucket_mask = reassembly_buckets_for(limits) - 1;
	r->datagrams = calloc(datagram_index_space(limits), sizeof *r->datagrams);
	r->bytes = calloc(block_index_space(limits), BLOCK_SIZE);
	r->block_next = calloc(block_index_space(limits), sizeof *r->block_next);
	r->fragments = calloc(FRAGMENT_INDEX_SPACE, sizeof *r->fragments);
	r->buckets = calloc(r->bucket_mask + 1, sizeof *r->buckets);
	if (r->datagrams == NULL || r->bytes == NULL || r->block_next == NULL || r->fragments == NULL ||
	    r->buckets == NULL) {
		reassembly_free(r);
		errno = ENOMEM;
		return NULL;
	}
	reassembly_reset(r);
	return r;
}

void
reassembly_free(struct reassembly *r)
{
	if (r == NULL)
		return;
	free(r->datagrams);
	free(r->bytes);
	free(r->block_next);
	free(r->fragments);
	free(r->buckets);
	free(r);
}

void
reassembly_clear(struct reassembly *r)
{
	reassembly_reset(r);
}

/* --- keys and lists by age --- */

static uint32_t
datagram_bucket(const struct reassembly *r, const struct datagram_key *key)
{
	return (uint32_t)(XXH3_64bits_withSeed(key, sizeof *key, r->seed) >> 32) & r->bucket_mask;
}

struct datagram *
datagram_lookup(struct reassembly *r, const struct datagram_key *key)
{
	uint16_t index = r->buckets[datagram_bucket(r, key)];

	while (index != 0 && memcmp(&r->datagrams[index].key, key, sizeof *key) != 0)
		index = r->datagrams[index].bucket_next;
	return index == 0 ? NULL : datagram_at(r, index);
}

static struct datagram_fifo *
datagram_fifo_of(struct reassembly *r, const struct datagram *d)
{
	return &r->fifo[d->key.version == 6];
}

static void
datagram_fifo_append(struct reassembly *r, struct datagram *d)
{
	struct datagram_fifo *fifo = datagram_fifo_of(r, d);
	uint16_t index = datagram_index(r, d);

	d->next = 0;
	d->prev = fifo->tail;
	if (fifo->tail != 0)
		r->datagrams[fifo->tail].next = index;
	else
		fifo->head = index;
	fifo->tail = index;
}

static void
datagram_fifo_remove(struct reassembly *r, const struct datagram *d)
{
	struct datagram_fifo *fifo = datagram_fifo_of(r, d);

	if (d->prev != 0)
		r->datagrams[d->prev].next = d->next;
	else
		fifo->head = d->next;
	if (d->next != 0)
		r->datagrams[d->next].prev = d->prev;
	else
		fifo->tail = d->prev;
}

struct datagram *
datagram_create(struct reassembly *r, const struct datagram_key *key, uint64_t now)
{
	uint16_t index = r->datagram_free_head != 0 ? r->datagram_free_head : (uint16_t)++r->datagram_high_water;
	struct datagram *d = datagram_at(r, index);
	uint32_t bucket = datagram_bucket(r, key);

	if (index == r->datagram_free_head)
		r->datagram_free_head = d->bucket_next;
	*d = (struct datagram){.key = *key, .first_seen = now, .bucket = bucket, .bucket_next = r->buckets[bucket]};
	r->buckets[bucket] = index;
	r->datagrams_free--;
	datagram_fifo_append(r, d);
	r->counters.datagrams++;
	return d;
}

void
datagram_free(struct reassembly *r, struct datagram *d)
{
	uint16_t index = datagram_index(r, d);
	uint16_t *link = &r->buckets[d->bucket];

	datagram_clear(r, d);
	while (*link != index)
		link = &r->datagrams[*link].bucket_next;
	*link = d->bucket_next;
	datagram_fifo_remove(r, d);
	d->bucket_next = r->datagram_free_head;
	r->datagram_free_head = index;
	r->datagrams_free++;
	r->counters.datagrams--;
}

void
datagram_clear(struct reassembly *r, struct datagram *d)
{
	for (unsigned i = 0; i < DATAGRAM_BLOCKS && d->blocks > 0; i++) {
		if (d->block[i] == 0)
			continue;
		r->block_next[d->block[i]] = r->block_free_head;
		r->block_free_head = d->block[i];
		d->block[i] = 0;
		d->blocks--;
		r->blocks_free++;
		r->counters.bytes -= BLOCK_SIZE;
	}
	if (d->tail != 0) {
		r->fragments[d->tail].next = r->fragment_free_head;
		r->fragment_free_head = d->head;
		r->fragments_free += d->count;
	}
	d->head = d->tail = d->count = 0;
}

uint16_t
fragment_alloc(struct reassembly *r)
{
	uint16_t index = r->fragment_free_head;

	r->fragments_free--;
	if (index == 0)
		return (uint16_t)++r->fragment_high_water;
	r->fragment_free_head = r->fragments[index].next;
	return index;
}

/* --- bytes --- */

uint32_t
datagram_blocks_needed(const struct datagram *d, uint32_t offset, uint32_t length)
{
	uint32_t missing = 0;

	if (length == 0)
		return 0;
	for (uint32_t i = offset / BLOCK_SIZE; i <= (offset + length - 1) / BLOCK_SIZE; i++)
		missing += d->block[i] == 0;
	return missing;
}

static uint16_t
datagram_alloc_block(struct reassembly *r, struct datagram *d)
{
	uint16_t index = r->block_free_head;

	if (index == 0)
		index = (uint16_t)++r->block_high_water;
	else
		r->block_free_head = r->block_next[index];
	r->blocks_free--;
	r->counters.bytes += BLOCK_SIZE;
	d->blocks++;
	return index;
}

/* Length of the part of a run that lies in one block. */
static uint32_t
datagram_block_run(uint32_t offset, uint32_t left)
{
	uint32_t room = BLOCK_SIZE - offset % BLOCK_SIZE;

	return left < room ? left : room;
}

void
datagram_write(struct reassembly *r, struct datagram *d, uint32_t offset, struct slice bytes)
{
	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		uint32_t position = offset + done;
		uint16_t *block = &d->block[position / BLOCK_SIZE];

		n = datagram_block_run(position, bytes.len - done);
		if (*block == 0)
			*block = datagram_alloc_block(r, d);
		slice_copy(bytes, done, r->bytes + (size_t)*block * BLOCK_SIZE + position % BLOCK_SIZE, n);
	}
}

bool
datagram_bytes_equal(const struct reassembly *r, const struct datagram *d, uint32_t offset, struct slice bytes)
{
	uint8_t other[BLOCK_SIZE];

	for (uint32_t done = 0, n; done < bytes.len; done += n) {
		uint32_t position = offset + done;

		n = datagram_block_run(position, bytes.len - done);
		slice_copy(bytes, done, other, n);
		if (memcmp(r->bytes + (size_t)d->block[position / BLOCK_SIZE] * BLOCK_SIZE + position % BLOCK_SIZE,
			   other, n) != 0)
			return false;
	}
	return true;
}

void
datagram_read(const struct reassembly *r, const struct datagram *d, uint8_t *to, uint32_t length)
{
	for (uint32_t done = 0, n; done < length; done += n) {
		n = datagram_block_run(done, length - done);
		memcpy(to + done, r->bytes + (size_t)d->block[done / BLOCK_SIZE] * BLOCK_SIZE, n);
	}
}
