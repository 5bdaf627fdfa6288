/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * configure --with-dtrace: the same probes for DTrace, beside the notes for the other tracers.  The macros of a header
 * that `dtrace -h` generates fire a probe, NETOBS_TCP_SEND(...), or return whether DTrace traces it,
 * NETOBS_TCP_SEND_ENABLED().  Each compiles to nops whose location DTrace knows.
 *
 * The latter is used only for site_sync_dtrace(), which raises the semaphore for DTrace as the kernel does for other
 * tracers.  Testing whether a probe is enabled therefore remains a single load.
 *
 * Both macros of a probe must be in one function: DTrace lists a probe once for each function, and with netobs* it
 * rejects args[] of a probe that it lists twice.  A site function is therefore queried through its first argument: the
 * address of site_query instead of a struct.
 */
#ifndef NETOBS_PROBES_SITE_SITE_DOF_H
#define NETOBS_PROBES_SITE_SITE_DOF_H

#ifdef NETOBS_DOF

#include <stdint.h>

/* Arguments are in registers, and their types in the header are without const. */
#define _DT_ARG_CONSTRAINT    r
#define PROBE_DOF_ARGUMENT(x) ((void *)(uintptr_t)(x))

/* Fires the probe for DTrace, by a call and not by a tail call. */
#define PROBE_DOF(fire, ...) \
	do { \
		fire(__VA_ARGS__); \
		__asm__ volatile("" : : : "memory"); \
	} while (0)

/* Answers a query, without firing the probe: sets site_query to whether DTrace traces the probe. */
#define PROBE_DOF_QUERY(enabled, first) \
	do { \
		if ((const void *)(first) == &site_query) { \
			site_query = enabled(); \
			return; \
		} \
	} while (0)

#else

#define PROBE_DOF(...)			((void)0)
#define PROBE_DOF_QUERY(enabled, first) ((void)0)

#endif

#endif
