/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/site/site_select.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probes/site/site.h"

#ifdef PROBE_HAS_FAST_SITE

bool probe_site_fast;

/* uprobe(2), by which the code that an optimised probe calls enters the kernel.  Nobody else may make it: it does
 * nothing but fail. */
#define UPROBE_SYSCALL 336

static int
ask_kernel(void)
{
	return syscall(UPROBE_SYSCALL) < 0 ? errno : 0;
}

enum site_kind
site_cheapest(const char *release, int (*ask)(void))
{
	unsigned version, patchlevel;

	/* A system call filter may kill for a number that it does not know.  Kernels that have this call show it to no
	 * filter; the others, of which it would not be wise to ask, have nothing to offer. */
	if (sscanf(release, "%u.%u", &version, &patchlevel) != 2 || version < 6 || (version == 6 && patchlevel < 18))
		return SITE_PLAIN;

	/* Kernels that optimise the five-byte nop say ENXIO.  Those that want ten bytes say EPROTO, so that tracers can
	 * tell them apart; they have no use for five, and find the ten at the plain site. */
	return ask() == ENXIO ? SITE_FAST : SITE_PLAIN;
}

bool
site_choose(enum site_kind wanted)
{
	struct utsname host;

	if (wanted == SITE_AUTO)
		wanted = uname(&host) == 0 ? site_cheapest(host.release, ask_kernel) : SITE_PLAIN;
	probe_site_fast = wanted == SITE_FAST;
	return true;
}

enum site_kind
site_chosen(void)
{
	return probe_site_fast ? SITE_FAST : SITE_PLAIN;
}

#else

enum site_kind
site_cheapest(const char *release, int (*ask)(void))
{
	(void)release;
	(void)ask;
	return SITE_PLAIN;
}

bool
site_choose(enum site_kind wanted)
{
	return wanted != SITE_FAST;
}

enum site_kind
site_chosen(void)
{
	return SITE_PLAIN;
}

#endif

unsigned
site_tracers(unsigned semaphore)
{
	return (semaphore + PROBE_SITES - 1) / PROBE_SITES;
}

const char *
site_word(enum site_kind kind)
{
	return kind == SITE_FAST ? "fast" : kind == SITE_PLAIN ? "plain" : "auto";
}
