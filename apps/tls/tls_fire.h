/* SPDX-License-Identifier: BSD-2-Clause */
/* The tls probes fire. */
#ifndef NETOBS_APPS_TLS_TLS_FIRE_H
#define NETOBS_APPS_TLS_TLS_FIRE_H

#include "probes/fire.h"

/* Whether any tls probe is enabled. */
bool tls_probes_enabled(void);

/* Fires the probe of a message, a struct tls_message, unless it is not enabled. */
void tls_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
