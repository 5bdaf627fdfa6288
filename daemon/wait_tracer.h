/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for a tracer (--wait-tracer, --wait-probes). */
#ifndef NETOBS_DAEMON_WAIT_TRACER_H
#define NETOBS_DAEMON_WAIT_TRACER_H

#include <stdbool.h>

#include "base/loop.h"
#include "config/config.h"
#include "formulas/formula_set.h"

/* Waits until a tracer has enabled all probes and formulas that config->wait_probes selects, or any probe if that is
 * NULL, and with config->wait_done also wait-done of netobs_engine, and none has followed for a quarter of a second.
 * `formulas` is NULL if there are none.  If the probes are not enabled it gives up after config->wait_timeout (0:
 * never) and logs that.  False if the loop was stopped.  Call it before the printer is created, which enables probes
 * itself. */
bool wait_for_tracer(struct loop *loop, const struct config *config, const struct formula_set *formulas);

#endif
