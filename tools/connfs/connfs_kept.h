/* SPDX-License-Identifier: BSD-2-Clause */
/* Data that netobsd keeps besides the connections that it tracks. */
#ifndef NETOBS_TOOLS_CONNFS_CONNFS_KEPT_H
#define NETOBS_TOOLS_CONNFS_CONNFS_KEPT_H

#include <stdbool.h>

struct connfs_kept {
	bool closed; /* connections that have ended: --closed-connections */
	bool frames; /* --flight-memory */
};

/* Requests it from netobsd; false if netobsd does not reply. */
bool connfs_kept_request(const char *socket, struct connfs_kept *kept);

#endif
