/* SPDX-License-Identifier: BSD-2-Clause */
/* The example probes fire. */
#ifndef NETOBS_APPS_EXAMPLE_EXAMPLE_FIRE_H
#define NETOBS_APPS_EXAMPLE_EXAMPLE_FIRE_H

#include "probes/fire.h"

/* Whether any example probe is enabled. */
bool example_probes_enabled(void);

/* Fires the probe of a message, a struct example_message, unless it is not enabled. */
void example_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
