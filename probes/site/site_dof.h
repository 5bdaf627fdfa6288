/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * configure --with-dtrace: the same probes for DTrace too, which wants DOF and not notes.  Its program (dtrace -G)
 * looks in an object file for calls of __dtrace_PROVIDER___PROBE, makes nops of them and writes down where they were;
 * and for calls of __dtraceenabled_PROVIDER___PROBE, which answer 0 from then on until somebody traces the probe.
 *
 * The latter are made in one place, site_ask_dtrace(), which raises the semaphore for DTrace as the kernel does for the
 * others.  So whether a probe is enabled stays a question of one load; and a probe is fired from one function, for
 * DTrace refuses args[] where there are two.
 */
#ifndef NETOBS_PROBES_SITE_SITE_DOF_H
#define NETOBS_PROBES_SITE_SITE_DOF_H

#ifdef NETOBS_DOF

/* Fires the probe for DTrace.  By a call, not by a jump at the end of the function. */
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
