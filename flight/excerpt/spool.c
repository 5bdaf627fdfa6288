/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/output_file.h"

void
spool_open(struct spool *spool, int fd, size_t memory)
{
	*spool = (struct spool){.fd = fd, .memory = memory};
}

void
spool_close(struct spool *spool)
{
	free(spool->data);
	free(spool->window);
	if (spool->fd >= 0)
		close(spool->fd);
	*spool = (struct spool){.fd = -1};
}

/* --------------------------------------------------------------------------------------------------------- writing */

/* Moves the older half of the memory to the file. */
static bool
spool_move_half(struct spool *spool)
{
	size_t half = spool->memory / 2;

	if (!output_write_all(spool->fd, spool->data, half))
		return false;
	spool->used -= half;
	spool->start += half;
	memmove(spool->data, spool->data + half, spool->used);
	return true;
}

static bool
spool_grow_memory(struct spool *spool, size_t needed)
{
	size_t capacity = spool->capacity > 0 ? spool->capacity : SPOOL_MEMORY_MIN;
	uint8_t *larger;

	while (capacity < needed)
		capacity += capacity / 2;
	if (spool->fd >= 0 && capacity > spool->memory)
		capacity = spool->memory;
	larger = realloc(spool->data, capacity);
	if (larger == NULL)
		return false;
	spool->data = larger;
	spool->capacity = capacity;
	return true;
}

bool
spool_reserve(struct spool *spool, size_t more)
{
	if (more > SIZE_MAX / 2 - spool->used) {
		errno = ENOMEM;
		return false;
	}
	if (spool->fd >= 0 && spool->used + more > spool->memory && !spool_move_half(spool))
		return false;
	return spool->used + more <= spool->capacity || spool_grow_memory(spool, spool->used + more);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static bool
spool_read_file(struct spool *spool, uint64_t offset, uint8_t *to, size_t size)
{
	while (size > 0) {
		ssize_t done = pread(spool->fd, to, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done == 0)
			errno = EIO; /* another program has shortened the file */
		if (done <= 0)
			return false;
		to += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return true;
}

/* Fills the window with the bytes of the file around `offset`. */
static bool
spool_load_window(struct spool *spool, uint64_t offset)
{
	uint64_t left;

	if (spool->window == NULL && (spool->window = malloc(SPOOL_WINDOW)) == NULL)
		return false;
	spool->window_start = offset / SPOOL_WINDOW * SPOOL_WINDOW;
	left = spool->start - spool->window_start;
	spool->window_size = left < SPOOL_WINDOW ? (size_t)left : SPOOL_WINDOW;
	if (spool_read_file(spool, spool->window_start, spool->window, spool->window_size))
		return true;
	spool->window_size = 0;
	return false;
}

/* Copies a part of the bytes, 0 on failure. */
static size_t
spool_read_part(struct spool *spool, uint64_t offset, uint8_t *to, size_t size)
{
	const uint8_t *from;
	size_t part;

	if (offset >= spool->start) {
		memcpy(to, spool->data + (offset - spool->start), size);
		return size;
	}
	if ((offset < spool->window_start || offset - spool->window_start >= spool->window_size) &&
	    !spool_load_window(spool, offset))
		return 0;
	from = spool->window + (offset - spool->window_start);
	part = spool->window_size - (size_t)(offset - spool->window_start);
	part = part < size ? part : size;
	memcpy(to, from, part);
	return part;
}

bool
spool_read(struct spool *spool, uint64_t offset, void *to, size_t size)
{
	uint8_t *at = to;

	if (offset > spool_size(spool) || size > spool_size(spool) - offset) {
		errno = EINVAL;
		return false;
	}
	while (size > 0) {
		size_t part = spool_read_part(spool, offset, at, size);

		if (part == 0)
			return false;
		at += part;
		offset += part;
		size -= part;
	}
	return true;
}

uint8_t *
spool_memory_at(const struct spool *spool, uint64_t offset)
{
	return offset >= spool->start && offset < spool_size(spool) ? spool->data + (offset - spool->start) : NULL;
}
