/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/excerpt/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPOOL_LEAST ((size_t)4096)

/* The file grows by so many bytes; they are written, so that a full disk is an error and no signal. */
#define SPOOL_STEP ((size_t)16 * 1024 * 1024)

void
spool_open(struct spool *spool, int fd)
{
	*spool = (struct spool){.fd = fd};
}

void
spool_close(struct spool *spool)
{
	if (spool->mapped != 0)
		munmap(spool->data, spool->mapped);
	else
		free(spool->data);
	if (spool->fd >= 0)
		close(spool->fd);
	*spool = (struct spool){.fd = -1};
}

static bool
spool_write(int fd, const uint8_t *from, size_t size)
{
	while (size > 0) {
		ssize_t done = write(fd, from, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		from += done;
		size -= (size_t)done;
	}
	return true;
}

/* Writes zeros at the end of the file. */
static bool
spool_grow_file(const struct spool *spool, size_t bytes)
{
	static const uint8_t zeros[65536];

	for (; bytes > 0; bytes -= sizeof zeros)
		if (!spool_write(spool->fd, zeros, sizeof zeros))
			return false;
	return true;
}

/* Moves the array from memory to the file. */
static bool
spool_move_to_file(struct spool *spool, size_t capacity)
{
	size_t bytes = spool->capacity;
	void *mapping;

	if (!spool_write(spool->fd, spool->data, bytes) || !spool_grow_file(spool, capacity - bytes))
		return false;
	mapping = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, spool->fd, 0);
	if (mapping == MAP_FAILED)
		return false;
	free(spool->data);
	spool->data = mapping;
	spool->mapped = spool->capacity = capacity;
	return true;
}

static bool
spool_grow_mapping(struct spool *spool, size_t capacity)
{
	void *mapping;

	if (!spool_grow_file(spool, capacity - spool->mapped))
		return false;
	mapping = mremap(spool->data, spool->mapped, capacity, MREMAP_MAYMOVE);
	if (mapping == MAP_FAILED)
		return false;
	spool->data = mapping;
	spool->mapped = spool->capacity = capacity;
	return true;
}

static bool
spool_grow_memory(struct spool *spool, size_t capacity)
{
	uint8_t *larger = realloc(spool->data, capacity);

	if (larger == NULL)
		return false;
	spool->data = larger;
	spool->capacity = capacity;
	return true;
}

bool
spool_reserve(struct spool *spool, size_t more)
{
	size_t needed = spool->size + more, capacity = spool->capacity > 0 ? spool->capacity : SPOOL_LEAST;

	if (needed < more) {
		errno = ENOMEM;
		return false;
	}
	if (needed <= spool->capacity)
		return true;
	while (capacity < needed && capacity < SPOOL_MEMORY)
		capacity *= 2;
	if (spool->mapped == 0 && (needed <= SPOOL_MEMORY || spool->fd < 0)) {
		while (capacity < needed)
			capacity += capacity / 2;
		return spool_grow_memory(spool, capacity);
	}
	/* Before it moves, the array has all of its memory or none. */
	if (spool->mapped == 0 && spool->capacity != SPOOL_MEMORY && !spool_grow_memory(spool, SPOOL_MEMORY))
		return false;
	capacity = (needed + SPOOL_STEP - 1) / SPOOL_STEP * SPOOL_STEP;
	return spool->mapped == 0 ? spool_move_to_file(spool, capacity) : spool_grow_mapping(spool, capacity);
}

bool
spool_extend(struct spool *spool, size_t size)
{
	if (size <= spool->size)
		return true;
	if (!spool_reserve(spool, size - spool->size))
		return false;
	memset(spool->data + spool->size, 0, size - spool->size);
	spool->size = size;
	return true;
}

bool
spool_add(struct spool *spool, const void *from, size_t size)
{
	if (__builtin_expect(size > spool->capacity - spool->size, 0) && !spool_reserve(spool, size))
		return false;
	memcpy(spool->data + spool->size, from, size);
	spool->size += size;
	return true;
}
