/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow: what is known of this host's addresses and interfaces. */
#ifndef NETOBS_DAEMON_BASE_ARRAY_H
#define NETOBS_DAEMON_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one element of `size` bytes more than `count`, of the `*room` that `*array` has; both are changed
 * where it must grow.  False, with nothing changed, if memory cannot be had. */
bool room_for_one(void **array, size_t count, size_t *room, size_t size);

#endif
