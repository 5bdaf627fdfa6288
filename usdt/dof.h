/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOF, the format in which a process describes its probes to DTrace: provider, probes, where their sites are, the
 * types of their arguments, their stability.  The notes of the sites, which other tracers read, have no types.
 *
 * Layout and numbers are those of <dtrace/dof.h> and <dtrace/dof_defines.h> of DTrace (libdtrace2-dev); the sections
 * are the ones that dtprobed(8) of DTrace 2.0 reads.
 */
#ifndef NETOBS_USDT_DOF_H
#define NETOBS_USDT_DOF_H

#include <stddef.h>
#include <stdint.h>

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

#endif
