/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the view if the user has not. */
#ifndef NETOBS_HOST_VIEW_H
#define NETOBS_HOST_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/* Whether frames of this link type record their direction (for example, the packet type of cooked captures). */
bool view_link_has_direction(int dlt);

/* Determines the view of a run; never VIEW_AUTO.  A view chosen by the user counts.  Otherwise a live run has the host
 * view.  So does a replay with local prefixes, and one whose files all record directions, which their link types show
 * before the first frame is read: standard input cannot be read twice.  Every other replay has both ends. */
enum view_mode view_resolve(const struct config *config, const int *dlts, size_t count);

/* Whether a replay in the host view can know local endpoints: by local prefixes, or by a file that records
 * directions. */
bool view_knows_local_endpoints(const struct config *config, const int *dlts, size_t count);

#endif
