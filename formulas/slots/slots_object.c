/* SPDX-License-Identifier: BSD-2-Clause */
/* formulas.so: see slots_object.h.  Linked without any library, so that loading it runs no other code. */
#include <stddef.h>

/* The filler note.  Its size is a multiple of 4, as is that of every note. */
#define SLOTS_TEXT_OF(x) #x
#define SLOTS_TEXT(x)	 SLOTS_TEXT_OF(x)
/* clang-format off */
#define SLOTS_FILLER(name)						 \
	"\t.4byte 996f - 995f, 998f - 997f, " SLOTS_TEXT(SLOTS_FILLER_TYPE) "\n" \
	"995:\t.asciz \"netobs\"\n"					 \
	"996:\t.balign 4\n"						 \
	"997:\t.asciz \"" #name "\"\n"					 \
	"\t.zero " SLOTS_TEXT(SLOTS_FILLER_SPARE) "\n"			 \
	"998:\t.balign 4\n"
/* clang-format on */
#define PROBE_NOTE_TAIL(name) SLOTS_FILLER(name)

#include "formulas/slots/slots_object.h"
#include "usdt/site.h"

#ifdef PROBE_HAS_FAST_SITE
bool site_is_fast;
#define SLOTS_SITE_IS_FAST &site_is_fast
#else
#define SLOTS_SITE_IS_FAST NULL
#endif

#ifdef PROBE_HAS_TABLE
#define SLOTS_SITE(name, ...) PROBE_SITE6(name, __VA_ARGS__)
/* The linker defines both. */
extern const struct probe_site __start_netobs_sites[] __attribute__((visibility("hidden")));
extern const struct probe_site __stop_netobs_sites[] __attribute__((visibility("hidden")));
#define SLOTS_TABLE	__start_netobs_sites
#define SLOTS_TABLE_END __stop_netobs_sites
#else
/* sys/sdt.h has no place for more, so the filler follows in the same section: a function has one site. */
#define SLOTS_SITE(name, ...)                                                                      \
	do {                                                                                       \
		PROBE_SITE6(name, __VA_ARGS__);                                                    \
		__asm__ volatile("\t.pushsection .note.stapsdt, \"?\", \"note\"\n\t.balign 4\n"      \
				 SLOTS_FILLER(name) "\t.popsection\n");                            \
	} while (0)
#define SLOTS_TABLE	NULL
#define SLOTS_TABLE_END NULL
#endif

/* X for every slot. */
/* clang-format off */
#define SLOTS_EACH(X) \
	X(01) X(02) X(03) X(04) X(05) X(06) X(07) X(08) \
	X(09) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
	X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) \
	X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) \
	X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) \
	X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48) \
	X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) \
	X(57) X(58) X(59) X(60) X(61) X(62) X(63) X(64)
/* clang-format on */

#define SLOTS_DEFINE(number) \
	PROBE_DECLARE(formula__##number); \
	PROBE_DEFINE(formula__##number); \
	void site_formula__##number(const void *a, const void *b, const void *c, const void *d, const void *e, \
				    const void *f) __attribute__((visibility("hidden"))); \
	PROBE_FUNCTION void site_formula__##number(const void *a, const void *b, const void *c, const void *d, \
						   const void *e, const void *f) \
	{ \
		SLOTS_SITE(formula__##number, a, b, c, d, e, f); \
	}

SLOTS_EACH(SLOTS_DEFINE)

#define SLOTS_ROW(number) {site_formula__##number, &PROBE_SEMAPHORE(formula__##number)},

extern const struct slots_object SLOTS_SYMBOL;
__attribute__((visibility("default"))) const struct slots_object SLOTS_SYMBOL = {
    .site_is_fast = SLOTS_SITE_IS_FAST,
    .sites = SLOTS_TABLE,
    .sites_end = SLOTS_TABLE_END,
    .slots = {SLOTS_EACH(SLOTS_ROW)},
};
