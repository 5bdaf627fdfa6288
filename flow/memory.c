/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/memory.h"

#include <sys/mman.h>

#define SMALLEST_PAGE 4096u

void *
memory_reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *
memory_reserve_huge(size_t size)
{
	void *memory = memory_reserve(size);

	if (memory != NULL)
		(void)madvise(memory, size, MADV_HUGEPAGE); /* small pages work, too */
	return memory;
}

void
memory_populate(void *memory, size_t size)
{
	volatile char *byte = memory;

	for (size_t at = 0; at < size; at += SMALLEST_PAGE)
		byte[at] = 0;
}

void
memory_release(void *memory, size_t size)
{
	if (memory != NULL)
		munmap(memory, size);
}
