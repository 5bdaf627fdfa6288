/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/site/site_select.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probes/site/semaphores.h"
#include "usdt/site.h"

unsigned (*semaphores_further)(void);

#ifdef PROBE_HAS_FAST_SITE

bool site_is_fast;

/* uprobe(2): the system call with which the code of an optimised probe enters the kernel.  From any other code it only
 * fails. */
#define UPROBE_SYSCALL 336

static int
site_uprobe_errno(void)
{
	return syscall(UPROBE_SYSCALL) < 0 ? errno : 0;
}

enum site_kind
site_kind_for_kernel(const char *release, int (*uprobe_errno)(void))
{
	unsigned version, patchlevel;

	/* A system-call filter may kill the process for an unknown number.  Kernels that have this system call exempt
	 * it from filters; older ones have no fast site, so the call is not made there. */
	if (sscanf(release, "%u.%u", &version, &patchlevel) != 2 || version < 6 || (version == 6 && patchlevel < 18))
		return SITE_PLAIN;

	/* A kernel that optimises the five-byte nop returns ENXIO.  One that requires ten bytes returns EPROTO, by
	 * which tracers tell them apart; it has no use for the five-byte nop and uses the ten-byte one at the plain
	 * site. */
	return uprobe_errno() == ENXIO ? SITE_FAST : SITE_PLAIN;
}

bool
site_select(enum site_kind wanted)
{
	struct utsname host;

	if (wanted == SITE_AUTO)
		wanted = uname(&host) == 0 ? site_kind_for_kernel(host.release, site_uprobe_errno) : SITE_PLAIN;
	site_is_fast = wanted == SITE_FAST;
	return true;
}

enum site_kind
site_selected(void)
{
	return site_is_fast ? SITE_FAST : SITE_PLAIN;
}

#else

enum site_kind
site_kind_for_kernel(const char *release, int (*uprobe_errno)(void))
{
	(void)release;
	(void)uprobe_errno;
	return SITE_PLAIN;
}

bool
site_select(enum site_kind wanted)
{
	return wanted != SITE_FAST;
}

enum site_kind
site_selected(void)
{
	return SITE_PLAIN;
}

#endif

unsigned
site_count_enablers(unsigned semaphore, unsigned sites)
{
	return (semaphore + sites - 1) / sites;
}

const char *
site_kind_name(enum site_kind kind)
{
	return kind == SITE_FAST ? "fast" : kind == SITE_PLAIN ? "plain" : "auto";
}
