/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array of bytes: in memory up to SPOOL_MEMORY, then in a temporary file that is mapped.
 */
#ifndef NETOBS_DAEMON_EXCERPT_SPOOL_H
#define NETOBS_DAEMON_EXCERPT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes in memory. */
#define SPOOL_MEMORY ((size_t)64 * 1024 * 1024)

struct spool {
	uint8_t *data; /* moves when the array grows */
	size_t size;   /* bytes in use */
	size_t capacity;
	size_t mapped; /* bytes of the mapped file, 0: in memory */
	int fd;	       /* of the temporary file, -1 none */
};

/* `fd`: an empty temporary file, which then belongs to the spool; -1: everything stays in memory. */
void spool_open(struct spool *spool, int fd);
void spool_close(struct spool *spool);

/* Ensures room for `more` bytes behind `size`.  False with errno if there is none. */
bool spool_reserve(struct spool *spool, size_t more);

/* Makes the array at least so long, with zeros.  False with errno. */
bool spool_extend(struct spool *spool, size_t size);

/* Appends bytes.  False with errno. */
bool spool_add(struct spool *spool, const void *from, size_t size);

#endif
