/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/dtprobed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
dtprobed_open(void)
{
	return open(DTPROBED_DEVICE, O_RDWR | O_CLOEXEC);
}

/* dtprobed identifies the DOFs of a process by the files that they are mapped from, and refuses memory without one:
 * hence a file in memory for each. */
bool
dtprobed_entry_open(struct dtprobed_entry *entry)
{
	int file = memfd_create("netobs-dof", MFD_CLOEXEC), error;
	void *memory = MAP_FAILED;

	if (file < 0)
		return false;
	if (ftruncate(file, DTPROBED_DOF_MAX) == 0)
		memory = mmap(NULL, DTPROBED_DOF_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	error = errno;
	close(file);
	errno = error;
	*entry = (struct dtprobed_entry){.dof = memory != MAP_FAILED ? memory : NULL};
	return entry->dof != NULL;
}

void
dtprobed_entry_close(struct dtprobed_entry *entry)
{
	if (entry->dof != NULL)
		munmap(entry->dof, DTPROBED_DOF_MAX);
	*entry = (struct dtprobed_entry){0};
}

bool
dtprobed_remove(int device, struct dtprobed_entry *entry)
{
	if (entry->size == 0)
		return true;
	entry->size = 0;
	/* The generation is the argument, not a pointer to it. */
	return ioctl(device, DTPROBED_REMOVE, (unsigned long)entry->generation) >= 0;
}

/* Hands over `size` bytes of DOF in place of what dtprobed has. */
static bool
dtprobed_replace(int device, struct dtprobed_entry *entry, const char *module, const void *dof, size_t size)
{
	struct dtprobed_request request = {.dof = (uintptr_t)entry->dof};

	if (!dtprobed_remove(device, entry))
		return false;
	memcpy(entry->dof, dof, size);
	snprintf(request.module, sizeof request.module, "%s", module);
	entry->generation = ioctl(device, DTPROBED_ADD, &request);
	entry->size = entry->generation >= 0 ? size : 0;
	return entry->generation >= 0;
}

bool
dtprobed_set(int device, struct dtprobed_entry *entry, const char *module, const struct dof_provider *provider)
{
	size_t size = dof_write(provider, NULL, 0);
	bool done;
	void *dof;

	if (provider->count == 0) {
		dtprobed_remove(device, entry);
		return true;
	}
	if (size == 0 || size > DTPROBED_DOF_MAX) {
		dtprobed_remove(device, entry);
		errno = size == 0 ? EINVAL : E2BIG;
		return false;
	}
	dof = malloc(size);
	if (dof == NULL) {
		dtprobed_remove(device, entry);
		errno = ENOMEM;
		return false;
	}
	dof_write(provider, dof, size);
	done = (entry->size == size && memcmp(entry->dof, dof, size) == 0) ||
	       dtprobed_replace(device, entry, module, dof, size);
	free(dof);
	return done;
}
