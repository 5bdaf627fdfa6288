/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef NETOBS_PROBES_SITE_SEMAPHORES_H
#define NETOBS_PROBES_SITE_SEMAPHORES_H

#include "probes/sites.h"

/* The semaphore of a probe, by its number; 0 in a build without probes. */
static inline unsigned
semaphores_read(unsigned probe)
{
#ifndef NETOBS_NO_PROBES
	return SEMAPHORE_READ(probe_semaphores[probe]);
#else
	(void)probe;
	return 0;
#endif
}

/* Sum of all semaphores: 0 while no probe is enabled; changes whenever a probe is enabled that was not, or disabled. */
static inline unsigned
semaphores_sum(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < PROBE_COUNT; i++)
		sum += semaphores_read(i);
	return sum;
}

#endif
