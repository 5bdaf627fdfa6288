/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dtprobed(8), DTrace's daemon: a process hands it the description of its probes through a device, and DTrace then
 * lists them, until they are removed or the process has ended.  Each call waits for its answer.  No signal interrupts
 * it, not even one that kills: as long as dtprobed is stopped, the caller is.
 */
#ifndef NETOBS_USDT_DTPROBED_H
#define NETOBS_USDT_DTPROBED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "usdt/dof.h"

#define DTPROBED_DEVICE "/dev/dtrace/helper"

/* The requests of the device, for filters of system calls (<dtrace/ioctl.h> and <dtrace/helpers.h> of DTrace). */
#define DTPROBED_MODULE_MAX 64
struct dtprobed_request {
	char module[DTPROBED_MODULE_MAX]; /* base name of the file with the sites */
	unsigned long long unused;
	unsigned long long dof; /* its address */
};
#define DTPROBED_ADD	_IOC(_IOC_WRITE, 0xd8, 3, sizeof(struct dtprobed_request))
#define DTPROBED_REMOVE _IOC(_IOC_WRITE, 0xd8, 2, sizeof(int))

#define DTPROBED_DOF_MAX (128 * 1024) /* bytes */

/* What dtprobed has of a provider; nothing at first. */
struct dtprobed_entry {
	void *dof;	/* DTPROBED_DOF_MAX bytes */
	size_t size;	/* of the DOF that dtprobed has; 0: none */
	int generation; /* dtprobed's number of it */
};

/* Opens the device.  -1 with errno on failure: ENOENT if this machine has no DTrace, ENODEV if dtprobed has ended. */
int dtprobed_open(void);

/* Maps memory for an entry, which a confined process cannot.  False with errno on failure. */
bool dtprobed_entry_open(struct dtprobed_entry *entry);
void dtprobed_entry_close(struct dtprobed_entry *entry);

/*
 * Hands dtprobed a provider, in place of what it had by `entry`; nothing is done if that is the same already.
 * A provider without probes is removed.  The same sites may be described by their notes, too: DTrace takes both for one
 * probe if `module` and the functions are those of the file, and so counts a firing once.
 *
 * False with errno on failure; dtprobed does not have the provider then.
 */
bool dtprobed_set(int device, struct dtprobed_entry *entry, const char *module, const struct dof_provider *provider);

/* Removes a provider from dtprobed.  False with errno on failure: dtprobed has ended since, or was restarted. */
bool dtprobed_remove(int device, struct dtprobed_entry *entry);

#endif
