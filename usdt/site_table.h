/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of the sites of this program, and tracers that do not raise semaphores.
 *
 * bpftrace, perf and others raise the semaphore of a probe while they are attached to it.  DTrace does not for probes
 * that a process has described to it (dtprobed.h): it only places a uprobe, which replaces the first byte of the site.
 */
#ifndef NETOBS_USDT_SITE_TABLE_H
#define NETOBS_USDT_SITE_TABLE_H

#include <stddef.h>

#include "usdt/site.h"

struct site_table {
	const struct probe_site *rows;
	size_t count; /* 0 on a processor without a table, and in a build without probes */
};

/* The table of the program itself. */
struct site_table site_table_of_program(void);

/* The site of a probe that runs: the fast one or the plain one, if the probe has both.  NULL if the table has no
 * site. */
const struct probe_site *site_table_find(const struct site_table *table,
					 const volatile union probe_semaphore *semaphore, bool fast);

/* Most sites that can be watched. */
#define SITE_WATCH_MAX 256

/* Watches a site: call it before any thread polls; the site must outlive the watch.  False if there is no room. */
bool site_watch_add(const struct probe_site *site);

/* Sets PROBE_UPROBE in the semaphore of each watched site that has a uprobe, and clears it in the others.  One thread
 * may call it at a time. */
void site_watch_poll(void);

/* Ends the watch of all sites, and clears PROBE_UPROBE. */
void site_watch_end(void);

#endif
