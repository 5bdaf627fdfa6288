/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/connfs/connfs_kept.h"

#include "tools/json_reader.h"

/* Most bytes of a status, of which a path is the longest part. */
#define STATUS_MAX 32768u

bool
connfs_kept_request(const char *socket, struct connfs_kept *kept)
{
	uint64_t closed, frames;
	char error[4096];
	json_t *lines = json_read_reply(socket, "status\n", STATUS_MAX, error, sizeof error);
	const json_t *status = json_array_get(lines, 0);
	bool known = json_read_unsigned(status, "max_closed_connections", &closed) &&
		     json_read_unsigned(status, "flight_memory", &frames);

	if (known)
		*kept = (struct connfs_kept){.closed = closed > 0, .frames = frames > 0};
	json_decref(lines);
	return known;
}
