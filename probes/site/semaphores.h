/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef NETOBS_PROBES_SITE_SEMAPHORES_H
#define NETOBS_PROBES_SITE_SEMAPHORES_H

#include "probes/sites.h"

/* The sum of all semaphores: 0 while nobody listens, and another whenever a tracer comes, enables one more probe, or
 * goes. */
static inline unsigned
probes_raised(void)
{
	unsigned sum = 0;

#ifndef NETOBS_NO_PROBES
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		sum += SEMAPHORE_NOW(probe_semaphores[i]);
#endif
	return sum;
}

#endif
