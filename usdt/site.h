/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Implementation of probe sites: used by the generated sites.h and sites.c and by callers of PROBE_ENABLED() for the
 * provider netobs, and by engine/ for the provider netobs_engine.
 *
 * A site is a nop and a note in .note.stapsdt that tells tracers where the site is, where its arguments are, and which
 * semaphore to raise while attached.  Three rules of the contract are implemented here:
 *  - Arguments are in registers, so that every tracer can read them at any optimisation level: some cannot parse memory
 *    operands, and a constant would differ from build to build.
 *  - Each probe has one function, which the compiler must neither inline nor clone.
 *  - Each probe has one semaphore, defined here, because the code generators of DTrace and SystemTap make other
 *    choices.
 *
 * On x86-64 the function of a probe of packets has two sites of the same name, of which a run executes one
 * (site_is_fast, set at start by probes/site/site_select.c).  Tracers attach to both; nothing is missed or counted
 * twice:
 *  - The plain site is a one-byte nop, which works with every tracer and kernel, followed by a ten-byte nop, which
 *    recent tracers use instead on kernels that can safely replace it by a call.
 *  - The fast site is a five-byte nop, which Linux 6.18 and later, up to those kernels, overwrite with a call once it
 *    is traced: no trap, half the cost.  Older kernels single-step it, at three times the cost.
 *
 * That call pushes its return address, and the code that it calls pushes registers, below the stack pointer of the
 * function with the site, where a function built with a red zone may keep live data.  sites.c must therefore be built
 * without one: configure requires -mno-red-zone, and tests/probes/notes.sh checks the machine code.  Other functions
 * and libraries may use red zones: while a site runs they are either callers, whose data is above the stack pointer, or
 * signal handlers, which the kernel starts and returns from safely.
 *
 * The operands of both sites must be the same text: bcc expects one answer per probe, and scripts that name a register
 * (perf, gdb) must be right at both.  The arguments are therefore pinned to the registers in which they arrive.
 */
#ifndef NETOBS_USDT_SITE_H
#define NETOBS_USDT_SITE_H

#include <stdbool.h>

#if defined __has_attribute
#if __has_attribute(noipa)
#define PROBE_FUNCTION __attribute__((noipa))
#endif
#endif
#ifndef PROBE_FUNCTION
/* clang has no noipa; it keeps the signature of functions with external linkage, which is sufficient. */
#define PROBE_FUNCTION __attribute__((noinline))
#endif

/* The semaphore of a probe, two counts.  Tracers know the address of the first only. */
union probe_semaphore {
	struct {
		unsigned short tracers; /* raised by the kernel or the tracer from outside the program */
		/* Formulas that read the firings, and PROBE_UPROBE; changed by the program only: the kernel changes the
		 * other count by a load and a store, which would lose what the program does meanwhile. */
		unsigned short formulas;
	};
	unsigned int enablers; /* both: one load shows whether either is raised */
};
#define PROBE_UPROBE 0x8000u /* the site that runs has a uprobe (site_table.h) */
_Static_assert(sizeof(union probe_semaphore) == 2 * sizeof(unsigned short), "one load reads both counts");

#define PROBE_SEMAPHORE(name) netobs_##name##_semaphore

#define PROBE_DECLARE(name) \
	extern volatile union probe_semaphore PROBE_SEMAPHORE(name) __attribute__((visibility("hidden")))

/* The section name is part of the tracers' protocol, as is the type. */
#define PROBE_DEFINE(name) \
	volatile union probe_semaphore PROBE_SEMAPHORE(name) \
	    __attribute__((section(".probes"), used, visibility("hidden")))

/* The present value of a count.  The kernel and other threads (--print) may change it at any time. */
#define SEMAPHORE_READ(semaphore) __atomic_load_n((semaphore), __ATOMIC_RELAXED)

/* The tracers of a probe: those that raise its semaphore, or 1 if there is only a uprobe. */
static inline unsigned
probe_tracers(const volatile union probe_semaphore *semaphore)
{
	unsigned tracers = SEMAPHORE_READ(&semaphore->tracers);

	return tracers != 0 ? tracers : (SEMAPHORE_READ(&semaphore->formulas) & PROBE_UPROBE) != 0;
}

/* Whether the probe is enabled: one load and one compare.  Test it before building the arguments. */
#define PROBE_ENABLED(name) __builtin_expect(SEMAPHORE_READ(&PROBE_SEMAPHORE(name).enablers) != 0, 0)

/*
 * A row of the table of sites, which is in the section netobs_sites of a program: whether a uprobe is in place at a
 * site shows in its first byte.  There is a table on the processors with PROBE_HAS_TABLE.
 */
struct probe_site {
	const volatile unsigned char *address;
	volatile union probe_semaphore *semaphore; /* that of its probe */
	unsigned long untraced;			   /* first byte while no uprobe is in place: PROBE_BYTE_... */
};

#if (defined __x86_64__ && !defined __ILP32__) || (defined __aarch64__ && defined __LP64__)

#define PROBE_HAS_TABLE 1

#ifdef __x86_64__

#define PROBE_HAS_FAST_SITE 1
#define PROBE_SITES	    2 /* of a probe of packets */

/* Which of the two sites of such a probe runs. */
extern bool site_is_fast __attribute__((visibility("hidden")));

/*
 * Kernels do not optimise a nop that crosses a page boundary, hence the alignment.  The bytes of the ten-byte nop are
 * exactly those that tracers look for.
 */
#define PROBE_NOP_PLAIN	 "\t.balign 16\n990:\tnop\n\t.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
#define PROBE_NOP_FAST	 "\t.balign 8\n990:\t.byte 0x0f, 0x1f, 0x44, 0, 0\n"
#define PROBE_BYTE_PLAIN 0x90
#define PROBE_BYTE_FAST	 0x0f

/* The registers in which the ABI passes arguments: to the compiler, and in a note. */
#define PROBE_REGISTER_1 "rdi"
#define PROBE_REGISTER_2 "rsi"
#define PROBE_REGISTER_3 "rdx"
#define PROBE_REGISTER_4 "rcx"
#define PROBE_REGISTER_5 "r8"
#define PROBE_REGISTER_6 "r9"
#define PROBE_OPERAND(n) "8@%%" PROBE_REGISTER_##n

#else

#define PROBE_SITES 1

#define PROBE_NOP_PLAIN	 "990:\tnop\n"
#define PROBE_BYTE_PLAIN 0x1f

#define PROBE_REGISTER_1 "x0"
#define PROBE_REGISTER_2 "x1"
#define PROBE_REGISTER_3 "x2"
#define PROBE_REGISTER_4 "x3"
#define PROBE_REGISTER_5 "x4"
#define PROBE_REGISTER_6 "x5"
#define PROBE_OPERAND(n) "8@" PROBE_REGISTER_##n

#endif

/* What a program places after each note: formulas/slots/slots_object.c reserves bytes there. */
#ifndef PROBE_NOTE_TAIL
#define PROBE_NOTE_TAIL(name) ""
#endif

/* The address that all notes refer to, so that tools can tell how far prelink has moved a program. */
#define PROBE_BASE \
	"\t.ifndef _.stapsdt.base\n" \
	"\t.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
	"\t.weak _.stapsdt.base\n" \
	"\t.hidden _.stapsdt.base\n" \
	"_.stapsdt.base:\t.space 1\n" \
	"\t.size _.stapsdt.base, 1\n" \
	"\t.popsection\n" \
	"\t.endif\n"

#define PROBE_TEXT_OF(x) #x
#define PROBE_TEXT(x)	 PROBE_TEXT_OF(x)

/* The row of struct probe_site. */
#define PROBE_ROW(kind, provider, name) \
	"\t.pushsection netobs_sites, \"aw\"\n" \
	"\t.balign 8\n" \
	"\t.8byte 990b, " #provider "_" #name "_semaphore, " PROBE_TEXT(PROBE_BYTE_##kind) "\n" \
											   "\t.popsection\n"

/*
 * The nop, its note and its row, of a probe of `provider`
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).  STAP_PROBE() of sys/sdt.h cannot be used,
 * because it has one nop for all sites, and the compiler chooses the registers: DTrace expects those of the ABI.
 * The semaphore is an operand so that link-time optimisation keeps it.
 */
#define PROBE_ASM(kind, provider, name, operands, ...) \
	__asm__ volatile(PROBE_NOP_##kind \
			 "\t.pushsection .note.stapsdt, \"\", \"note\"\n" \
			 "\t.balign 4\n" \
			 "\t.4byte 992f - 991f, 994f - 993f, 3\n" \
			 "991:\t.asciz \"stapsdt\"\n" \
			 "992:\t.balign 4\n" \
			 "993:\t.8byte 990b, _.stapsdt.base, " #provider "_" #name "_semaphore\n" \
			 "\t.asciz \"" #provider "\", \"" #name "\", \"" operands "\"\n" \
			 "994:\t.balign 4\n" PROBE_NOTE_TAIL(name) "\t.popsection\n" PROBE_ROW(kind, provider, name) \
			     PROBE_BASE \
			 : \
			 : __VA_ARGS__, "m"(provider##_##name##_semaphore))

/*
 * One to six arguments, in the registers in which the ABI passes them, so that the compiler need not move them.  In
 * each block the asm follows the assignments immediately, so that no other code can come between.
 */
#define PROBE_IN(n, x) register const void *probe_in_##n __asm__(PROBE_REGISTER_##n) = (x)
#define PROBE_ARG(n)   "r"(probe_in_##n)

#define PROBE_AT1(kind, provider, name, a) \
	do { \
		PROBE_IN(1, a); \
		PROBE_ASM(kind, provider, name, PROBE_OPERAND(1), PROBE_ARG(1)); \
	} while (0)
#define PROBE_AT2(kind, provider, name, a, b) \
	do { \
		PROBE_IN(1, a); \
		PROBE_IN(2, b); \
		PROBE_ASM(kind, provider, name, PROBE_OPERAND(1) " " PROBE_OPERAND(2), PROBE_ARG(1), PROBE_ARG(2)); \
	} while (0)
#define PROBE_AT3(kind, provider, name, a, b, c) \
	do { \
		PROBE_IN(1, a); \
		PROBE_IN(2, b); \
		PROBE_IN(3, c); \
		PROBE_ASM(kind, provider, name, PROBE_OPERAND(1) " " PROBE_OPERAND(2) " " PROBE_OPERAND(3), \
			  PROBE_ARG(1), PROBE_ARG(2), PROBE_ARG(3)); \
	} while (0)
#define PROBE_AT4(kind, provider, name, a, b, c, d) \
	do { \
		PROBE_IN(1, a); \
		PROBE_IN(2, b); \
		PROBE_IN(3, c); \
		PROBE_IN(4, d); \
		PROBE_ASM(kind, provider, name, \
			  PROBE_OPERAND(1) " " PROBE_OPERAND(2) " " PROBE_OPERAND(3) " " PROBE_OPERAND(4), \
			  PROBE_ARG(1), PROBE_ARG(2), PROBE_ARG(3), PROBE_ARG(4)); \
	} while (0)
#define PROBE_AT5(kind, provider, name, a, b, c, d, e) \
	do { \
		PROBE_IN(1, a); \
		PROBE_IN(2, b); \
		PROBE_IN(3, c); \
		PROBE_IN(4, d); \
		PROBE_IN(5, e); \
		PROBE_ASM(kind, provider, name, \
			  PROBE_OPERAND(1) " " PROBE_OPERAND(2) " " PROBE_OPERAND(3) " " PROBE_OPERAND( \
			      4) " " PROBE_OPERAND(5), \
			  PROBE_ARG(1), PROBE_ARG(2), PROBE_ARG(3), PROBE_ARG(4), PROBE_ARG(5)); \
	} while (0)
#define PROBE_AT6(kind, provider, name, a, b, c, d, e, f) \
	do { \
		PROBE_IN(1, a); \
		PROBE_IN(2, b); \
		PROBE_IN(3, c); \
		PROBE_IN(4, d); \
		PROBE_IN(5, e); \
		PROBE_IN(6, f); \
		PROBE_ASM(kind, provider, name, \
			  PROBE_OPERAND(1) " " PROBE_OPERAND(2) " " PROBE_OPERAND(3) " " PROBE_OPERAND( \
			      4) " " PROBE_OPERAND(5) " " PROBE_OPERAND(6), \
			  PROBE_ARG(1), PROBE_ARG(2), PROBE_ARG(3), PROBE_ARG(4), PROBE_ARG(5), PROBE_ARG(6)); \
	} while (0)

#ifdef PROBE_HAS_FAST_SITE
/* Runs only if the probe is enabled, so an untraced program does not pay for this test. */
#define PROBE_AT_SITE(at, ...) \
	do { \
		if (site_is_fast) \
			at(FAST, netobs, __VA_ARGS__); \
		else \
			at(PLAIN, netobs, __VA_ARGS__); \
	} while (0)
#else
#define PROBE_AT_SITE(at, ...) at(PLAIN, netobs, __VA_ARGS__)
#endif

#define PROBE_SITE1(name, ...) PROBE_AT_SITE(PROBE_AT1, name, __VA_ARGS__)
#define PROBE_SITE2(name, ...) PROBE_AT_SITE(PROBE_AT2, name, __VA_ARGS__)
#define PROBE_SITE3(name, ...) PROBE_AT_SITE(PROBE_AT3, name, __VA_ARGS__)
#define PROBE_SITE4(name, ...) PROBE_AT_SITE(PROBE_AT4, name, __VA_ARGS__)
#define PROBE_SITE5(name, ...) PROBE_AT_SITE(PROBE_AT5, name, __VA_ARGS__)
#define PROBE_SITE6(name, ...) PROBE_AT_SITE(PROBE_AT6, name, __VA_ARGS__)

/* Only the plain site: for a probe that fires seldom; a tracer attaches to one site in half the time. */
#define PROBE_PLAIN_SITE1(provider, name, ...) PROBE_AT1(PLAIN, provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE2(provider, name, ...) PROBE_AT2(PLAIN, provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE3(provider, name, ...) PROBE_AT3(PLAIN, provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE4(provider, name, ...) PROBE_AT4(PLAIN, provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE5(provider, name, ...) PROBE_AT5(PLAIN, provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE6(provider, name, ...) PROBE_AT6(PLAIN, provider, name, __VA_ARGS__)

#else

#define PROBE_SITES		1

/* "r" instead of the default "nor". */
#define STAP_SDT_ARG_CONSTRAINT r
#define _SDT_HAS_SEMAPHORES	1
#include <sys/sdt.h>

#define PROBE_SITE1(name, ...) STAP_PROBE1(netobs, name, __VA_ARGS__)
#define PROBE_SITE2(name, ...) STAP_PROBE2(netobs, name, __VA_ARGS__)
#define PROBE_SITE3(name, ...) STAP_PROBE3(netobs, name, __VA_ARGS__)
#define PROBE_SITE4(name, ...) STAP_PROBE4(netobs, name, __VA_ARGS__)
#define PROBE_SITE5(name, ...) STAP_PROBE5(netobs, name, __VA_ARGS__)
#define PROBE_SITE6(name, ...) STAP_PROBE6(netobs, name, __VA_ARGS__)

#define PROBE_PLAIN_SITE1(provider, name, ...) STAP_PROBE1(provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE2(provider, name, ...) STAP_PROBE2(provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE3(provider, name, ...) STAP_PROBE3(provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE4(provider, name, ...) STAP_PROBE4(provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE5(provider, name, ...) STAP_PROBE5(provider, name, __VA_ARGS__)
#define PROBE_PLAIN_SITE6(provider, name, ...) STAP_PROBE6(provider, name, __VA_ARGS__)

#endif

#endif
