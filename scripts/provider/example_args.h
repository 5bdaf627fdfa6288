/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of the example probes. */
#ifndef NETOBS_APPS_EXAMPLE_EXAMPLE_ARGS_H
#define NETOBS_APPS_EXAMPLE_EXAMPLE_ARGS_H

#include "apps/example/example_message.h"
#include "probes/netobs.h"

void args_exampleinfo(struct exampleinfo *info, const struct example_message *message);

#endif
