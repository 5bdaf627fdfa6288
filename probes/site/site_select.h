/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the two sites of a probe this run executes: see probes/site/site.h for what they are. */
#ifndef NETOBS_PROBES_SITE_SITE_SELECT_H
#define NETOBS_PROBES_SITE_SITE_SELECT_H

#include <stdbool.h>

enum site_kind {
	SITE_AUTO,  /* the one that the kernel traces at the least cost */
	SITE_PLAIN, /* the one-byte nop: a trap, on every kernel */
	SITE_FAST,  /* the five-byte nop: a call on Linux 6.18 and some successors; x86-64 only */
};

/* Settles it, before the first probe fires; until then it is SITE_PLAIN.  False if there is no fast site to be had. */
bool site_choose(enum site_kind wanted);

/* SITE_PLAIN or SITE_FAST. */
enum site_kind site_chosen(void);

/* "plain", "fast"; "auto" for what is not settled. */
const char *site_word(enum site_kind kind);

/* How many tracers have raised a semaphore to this: most raise it once for each site of a probe.  The few that raise it
 * once altogether (bcc, the built-in printer) count as one where they are alone, and as a half beside others. */
unsigned site_tracers(unsigned semaphore);

/*
 * What SITE_AUTO is on a kernel of this release ("6.18.44-amd64") whose uprobe system call gives this error when an
 * ordinary program makes it; `ask` makes it, and is left alone where that could do harm.
 */
enum site_kind site_cheapest(const char *release, int (*ask)(void));

#endif
