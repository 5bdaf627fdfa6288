/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef NETOBS_PROBES_SITE_SEMAPHORES_H
#define NETOBS_PROBES_SITE_SEMAPHORES_H

#include "probes/sites.h"

/* Sum of all semaphores: 0 while no probe is enabled; changes whenever a probe is enabled that was not, or disabled. */
static inline unsigned
semaphores_sum(void)
{
	unsigned sum = 0;

#ifndef NETOBS_NO_PROBES
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		sum += SEMAPHORE_READ(probe_semaphores[i]);
#endif
	return sum;
}

#endif
