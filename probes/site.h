/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probe site is made of.  Used by the generated sites.h and sites.c, and by whoever asks PROBE_ENABLED().
 *
 * A site is a nop and a note in .note.stapsdt that tells tracers where it is, where its arguments are, and which
 * semaphore they raise while they are attached.  Three rules of the contract live here:
 *  - the arguments are in registers ("r", not the default "nor"), so that every tracer can read them at any
 *    optimisation: some cannot parse memory operands, and a constant would differ from build to build;
 *  - one function per probe that the compiler must neither inline nor clone, so that there is one site per name;
 *  - one semaphore per probe, defined by us: DTrace's and SystemTap's code generators make other choices.
 *
 * The nop is sys/sdt.h's own, one byte on x86-64: safe with every tracer and kernel.  A longer one that some kernels
 * turn into a call belongs into PROBE_NOP below and nowhere else; it would be a second site under the same name with
 * the same semaphore, in a second function, chosen once at the start of the program (PROBE_SITEn stays as it is, and
 * the function that PROBE_FUNCTION marks becomes an ifunc or a pointer).  No object of the program may be built with a
 * red zone then: such a call pushes a return address below the stack pointer.
 */
#ifndef NETOBS_PROBES_SITE_H
#define NETOBS_PROBES_SITE_H

#define STAP_SDT_ARG_CONSTRAINT r
#define _SDT_HAS_SEMAPHORES     1
#include <sys/sdt.h>

#ifdef PROBE_NOP
#undef _SDT_NOP
#define _SDT_NOP PROBE_NOP
#endif

#if defined __has_attribute
#if __has_attribute(noipa)
#define PROBE_FUNCTION __attribute__((noipa))
#endif
#endif
#ifndef PROBE_FUNCTION
/* clang has no noipa; it keeps the signature of functions with external linkage, which is what counts. */
#define PROBE_FUNCTION __attribute__((noinline))
#endif

/* The counter of tracers that want this probe, raised by the kernel or the tracer from outside the program. */
#define PROBE_SEMAPHORE(name) netobs_##name##_semaphore

#define PROBE_DECLARE(name) \
	extern volatile unsigned short PROBE_SEMAPHORE(name) __attribute__((visibility("hidden")))

/* The section name is part of the tracers' protocol, as is the type. */
#define PROBE_DEFINE(name) \
	volatile unsigned short PROBE_SEMAPHORE(name) __attribute__((section(".probes"), used, visibility("hidden")))

/* Whether anybody wants the probe: one load and one compare.  Ask before the arguments are built. */
#define PROBE_ENABLED(name) __builtin_expect(PROBE_SEMAPHORE(name) != 0, 0)

#define PROBE_SITE1(name, a)                STAP_PROBE1(netobs, name, a)
#define PROBE_SITE2(name, a, b)             STAP_PROBE2(netobs, name, a, b)
#define PROBE_SITE3(name, a, b, c)          STAP_PROBE3(netobs, name, a, b, c)
#define PROBE_SITE4(name, a, b, c, d)       STAP_PROBE4(netobs, name, a, b, c, d)
#define PROBE_SITE5(name, a, b, c, d, e)    STAP_PROBE5(netobs, name, a, b, c, d, e)
#define PROBE_SITE6(name, a, b, c, d, e, f) STAP_PROBE6(netobs, name, a, b, c, d, e, f)

#endif
