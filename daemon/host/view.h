/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose probes fire, where the user has not said. */
#ifndef NETOBS_DAEMON_HOST_VIEW_H
#define NETOBS_DAEMON_HOST_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config/config.h"

/* Whether frames of this link type say which way they went (cooked captures: the packet type of their header). */
bool view_link_tells_direction(int dlt);

/* The view that a run has: never VIEW_AUTO.
 *
 * What the user says counts.  Otherwise: a live run has the host view.  So has a replay with local prefixes, and one
 * whose files all tell directions, which their link types show before the first frame is read: standard input cannot
 * be read twice.  Every other replay has both ends. */
enum view_kind view_resolve(const struct config *config, const int *dlts, size_t count);

/* Whether a replay in the host view can know a local endpoint: from local prefixes, or from a file that tells. */
bool view_is_told(const struct config *config, const int *dlts, size_t count);

#endif
