/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects which of the two sites of a probe of packets this run executes; usdt/site.h describes both. */
#ifndef NETOBS_PROBES_SITE_SITE_SELECT_H
#define NETOBS_PROBES_SITE_SITE_SELECT_H

#include <stdbool.h>

#include "probes/probe_ids.h"

enum site_kind {
	SITE_AUTO,  /* the one that the kernel traces at the least cost */
	SITE_PLAIN, /* the one-byte nop: a trap, on every kernel */
	SITE_FAST,  /* the five-byte nop: a call on Linux 6.18 and some successors; x86-64 only */
};

/* Selects the site; call it before the first probe fires.  Until then it is SITE_PLAIN.  False if there is no fast
 * site. */
bool site_select(enum site_kind wanted);

/* SITE_PLAIN or SITE_FAST. */
enum site_kind site_selected(void);

/* "plain" or "fast"; "auto" if not selected yet. */
const char *site_kind_name(enum site_kind kind);

/*
 * Number of enablers for the value of the semaphore of a probe with so many sites: the kernel raises it once for each,
 * however many tracers attach uprobes there, by path or by process id.  Others (bcc, the built-in printer) raise it
 * once each; an enabler of that kind counts as one if alone, and as a half beside others.
 */
unsigned site_count_enablers(unsigned semaphore, unsigned sites);

/*
 * The site that SITE_AUTO selects on kernel `release` ("6.18.44-amd64").  `uprobe_errno`
 * makes the uprobe system call from ordinary code and returns its error; it is called only on kernels that have the
 * call.
 */
enum site_kind site_kind_for_kernel(const char *release, int (*uprobe_errno)(void));

#endif
