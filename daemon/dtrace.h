/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DTrace's view of this process: netobsd describes its probes to dtprobed(8), with the types of their arguments, if the
 * machine has it.  Other tracers read the notes of the sites and need nothing of this.
 */
#ifndef NETOBS_DAEMON_DTRACE_H
#define NETOBS_DAEMON_DTRACE_H

#include <stdbool.h>

#include "daemon/formula_sites.h"

struct dtrace;

/*
 * Hands the probes of netobs and netobs_engine and the formulas to dtprobed, and watches their sites from then on
 * (site_table.h).  Call it before privileges are dropped, after site_select() and formula_sites_open().  NULL if the
 * machine has no DTrace, if this build has no table of sites, or on failure, with a warning logged.
 */
struct dtrace *dtrace_open(const struct formula_sites *sites);
void dtrace_close(struct dtrace *dtrace);

/* Whether dtprobed has taken all probes. */
bool dtrace_is_listed(const struct dtrace *dtrace);

/* Hands over the formulas again if their names or the types of their arguments have changed.  Does nothing without
 * DTrace (NULL). */
void dtrace_update(struct dtrace *dtrace, const struct formula_sites *sites);

#endif
