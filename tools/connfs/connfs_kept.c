/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_kept.h"

#include <stdlib.h>
#include <string.h>

#include "tools/control_client.h"

/* Most bytes of a status, of which a path is the longest part. */
#define STATUS_MAX 32768u

/* Whether the number of a key in the status is above 0. */
static bool
connfs_status_has(const char *status, const char *key)
{
	const char *value = strstr(status, key);

	return value != NULL && strtoull(value + strlen(key), NULL, 10) > 0;
}

bool
connfs_kept_request(const char *socket, struct connfs_kept *kept)
{
	char status[STATUS_MAX], error[4096];

	if (!client_read_reply(socket, "status --json\n", status, sizeof status, error, sizeof error))
		return false;
	kept->closed = connfs_status_has(status, "\"max_closed_connections\":");
	kept->frames = connfs_status_has(status, "\"flight_memory\":");
	return true;
}
