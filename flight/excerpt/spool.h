/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array of bytes.  The latest bytes are in memory, the ones before in a temporary file.  The file is read and
 * written by system calls, not mapped: a full disk is an error.
 */
#ifndef NETOBS_FLIGHT_EXCERPT_SPOOL_H
#define NETOBS_FLIGHT_EXCERPT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Most bytes in memory of the arrays of a run. */
#define SPOOL_MEMORY ((size_t)64 * 1024 * 1024)

/* Least bytes in memory, and most bytes that are read at once. */
#define SPOOL_MEMORY_MIN ((size_t)4096)

#define SPOOL_WINDOW ((size_t)16 * 1024)

struct spool {
	uint8_t *data; /* the bytes from `start` on; moves when the array grows */
	size_t used, capacity;
	size_t memory;	/* most bytes in memory */
	uint64_t start; /* bytes in the file */
	int fd;		/* of the temporary file, -1 none */
	uint64_t window_start;
	size_t window_size; /* 0: nothing was read */
	uint8_t *window;    /* bytes of the file; NULL until the first read */
};

/* `fd`: an empty temporary file, which then belongs to the spool; -1: everything stays in memory. */
void spool_open(struct spool *spool, int fd, size_t memory);
void spool_close(struct spool *spool);

/* Makes room in memory for `more` bytes, at most half of `memory`.  False with errno. */
bool spool_reserve(struct spool *spool, size_t more);

/* Copies bytes to `to`.  False with errno, EINVAL if the array has no such bytes. */
bool spool_read(struct spool *spool, uint64_t offset, void *to, size_t size);

/* The bytes from `offset` on, up to the end; NULL if they are not in memory: the file is written only once. */
uint8_t *spool_memory_at(const struct spool *spool, uint64_t offset);

/* Bytes of the array. */
static inline uint64_t
spool_size(const struct spool *spool)
{
	return spool->start + spool->used;
}

/* Appends bytes.  False with errno. */
static inline bool
spool_add(struct spool *spool, const void *from, size_t size)
{
	if (__builtin_expect(size > spool->capacity - spool->used, 0) && !spool_reserve(spool, size))
		return false;
	memcpy(spool->data + spool->used, from, size);
	spool->used += size;
	return true;
}

#endif
