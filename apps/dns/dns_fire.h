/* SPDX-License-Identifier: BSD-2-Clause */
/* The dns probes fire. */
#ifndef NETOBS_APPS_DNS_DNS_FIRE_H
#define NETOBS_APPS_DNS_DNS_FIRE_H

#include "probes/fire.h"

/* Whether any dns probe is enabled. */
bool dns_probes_enabled(void);

/* Fires the probe of a message, a struct dns_message, unless it is not enabled. */
void dns_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
