/* SPDX-License-Identifier: BSD-2-Clause */
/* The http probes fire. */
#ifndef NETOBS_APPS_HTTP_HTTP_FIRE_H
#define NETOBS_APPS_HTTP_HTTP_FIRE_H

#include "probes/fire.h"

/* Whether any http probe is enabled. */
bool http_probes_enabled(void);

/* Fires the probe of a message, a struct http_message, unless it is not enabled. */
void http_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
