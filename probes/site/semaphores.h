/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef NETOBS_PROBES_SITE_SEMAPHORES_H
#define NETOBS_PROBES_SITE_SEMAPHORES_H

#include <stdbool.h>

#include "probes/sites.h"

/* The tracers of a probe, by its number; 0 in a build without probes. */
static inline unsigned
semaphores_read(unsigned probe)
{
#ifndef NETOBS_NO_PROBES
	return probe_tracers((volatile union probe_semaphore *)probe_semaphores[probe]);
#else
	(void)probe;
	return 0;
#endif
}

static inline volatile union probe_semaphore *
semaphores_of(unsigned probe)
{
	return (volatile union probe_semaphore *)probe_semaphores[probe];
}

/* PROBE_ENABLED() by a number: whether a tracer is attached to the probe or a formula reads its firings. */
static inline bool
semaphores_enabled(unsigned probe)
{
#ifndef NETOBS_NO_PROBES
	return SEMAPHORE_READ(&semaphores_of(probe)->enablers) != 0;
#else
	(void)probe;
	return false;
#endif
}

/* The formulas that read the firings of a probe. */
static inline unsigned
semaphores_formulas(unsigned probe)
{
#ifndef NETOBS_NO_PROBES
	return SEMAPHORE_READ(&semaphores_of(probe)->formulas) & ~PROBE_UPROBE;
#else
	(void)probe;
	return 0;
#endif
}

/* Adds a formula to those that read the firings of a probe, or removes one. */
static inline void
semaphores_add_formula(unsigned probe)
{
	__atomic_fetch_add(&semaphores_of(probe)->formulas, 1, __ATOMIC_RELAXED);
}

static inline void
semaphores_remove_formula(unsigned probe)
{
	__atomic_fetch_sub(&semaphores_of(probe)->formulas, 1, __ATOMIC_RELAXED);
}

/* The tracers of formulas, --print included; NULL while there are no formulas. */
extern unsigned (*semaphores_further)(void);

/* Sum of all tracers: 0 while no probe is traced; changes whenever a probe is traced that was not, or no longer. */
static inline unsigned
semaphores_sum(void)
{
	unsigned sum = semaphores_further != NULL ? semaphores_further() : 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		sum += semaphores_read(i);
	return sum;
}

#endif
