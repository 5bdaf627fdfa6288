/* SPDX-License-Identifier: BSD-2-Clause */
/* `netobsctl top`: the tracked connections on the whole terminal, again in each interval. */
#ifndef NETOBS_TOOLS_CONNECTIONS_TOP_H
#define NETOBS_TOOLS_CONNECTIONS_TOP_H

#include "tools/connections/connections.h"

/* Shows the connections that match the conditions `words`, until the user leaves.  Of the options, sort and interval
 * count.  Returns the exit status. */
int top_run(const char *path, char *const *words, int count, const struct connections_options *options);

#endif
