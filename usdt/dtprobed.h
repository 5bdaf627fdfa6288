/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOF, the format in which a process describes its probes to DTrace: provider, probes, where their sites are, the
 * types of their arguments, their stability.  The notes of the sites, which other tracers read, have no types.
 *
 * Layout and numbers are those of <dtrace/dof.h> and <dtrace/dof_defines.h> of DTrace (libdtrace2-dev); the sections
 * are the ones that dtprobed(8) of DTrace 2.0 reads.
 */
#ifndef NETOBS_USDT_DTPROBED_H
#define NETOBS_USDT_DTPROBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define DOF_ARGS_MAX 6

struct dof_probe {
	const char *name;		      /* as in D: "tcp-receive" */
	const char *function;		      /* the symbol of the function with the site */
	const volatile void *site;	      /* its address in this process */
	unsigned arg_count;		      /* at most DOF_ARGS_MAX; in the ABI's registers at the site */
	const char *native[DOF_ARGS_MAX];     /* their C types: "netobs_tcpinfo_t *" */
	const char *translated[DOF_ARGS_MAX]; /* the types of args[]; a D library translates one into the other */
};

/* What a stability is of, in the order of struct dof_provider. */
enum dof_element { DOF_PROVIDER, DOF_MODULE, DOF_FUNCTION, DOF_NAME, DOF_ARGS, DOF_ELEMENTS };

struct dof_provider {
	const char *name; /* "netobs": DTrace appends the process id */
	/* "Evolving/Evolving/Common": name stability, data stability, dependency class. */
	const char *stability[DOF_ELEMENTS];
	const struct dof_probe *probes;
	size_t count;
};

/* Writes the DOF of a provider with a probe or more to memory that is aligned to 8 bytes.  Returns its size in bytes;
 * if that is more than `size`, or if `to` is NULL, nothing is written.  0 if a stability has an unknown word. */
size_t dof_write(const struct dof_provider *provider, void *to, size_t size);

/* --------------------------------------------------------------------------------------------------------- dtprobed */

/*
 * dtprobed(8), DTrace's daemon: a process hands it the description of its probes through a device, and DTrace then
 * lists them, until they are removed or the process has ended.  Each call waits for its answer.  No signal interrupts
 * it, not even one that kills: as long as dtprobed is stopped, the caller is.
 */

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
