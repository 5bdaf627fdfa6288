/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * configure --with-dtrace: the same probes for DTrace, which reads DOF instead of notes.  dtrace -G searches an object
 * file for calls of __dtrace_PROVIDER___PROBE, replaces them by nops and records their locations.  It does the same
 * with calls of __dtraceenabled_PROVIDER___PROBE, which then return 0 until the probe is traced.
 *
 * The latter are called in one place, site_sync_dtrace(), which raises the semaphore for DTrace as the kernel does for
 * other tracers.  Testing whether a probe is enabled therefore remains a single load.  A probe fires from one function
 * only, because DTrace rejects args[] for a probe with two.
 */
#ifndef NETOBS_PROBES_SITE_SITE_DOF_H
#define NETOBS_PROBES_SITE_SITE_DOF_H

#ifdef NETOBS_DOF

/* Fires the probe for DTrace, by a call and not by a tail call. */
#define PROBE_DOF(name, ...)                             \
	do {                                             \
		__dtrace_netobs___##name(__VA_ARGS__);   \
		__asm__ volatile("" : : : "memory");     \
	} while (0)

/* Whether DTrace traces the probe. */
#define PROBE_DOF_ENABLED(name) (__dtraceenabled_netobs___##name(0) != 0)

#else

#define PROBE_DOF(name, ...)	((void)0)
#define PROBE_DOF_ENABLED(name) false

#endif

#endif
