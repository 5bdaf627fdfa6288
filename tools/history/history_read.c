/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/history/history_ladder.h"
#include "tools/write_client.h"

/* Room for the last line. */
#define HISTORY_LAST_LINE 128u

/* The error of a request that has no history. */
static bool
history_fail(int reason)
{
	errno = reason;
	return false;
}

bool
history_read(const struct history_request *request, char *text, char *error, size_t size)
{
	struct history_ends ends;
	struct history_ladder ladder = {.text = text, .size = HISTORY_TEXT_MAX - HISTORY_LAST_LINE, .ends = &ends};
	struct written_capture written;
	enum history_result result;
	int fd;

	text[0] = '\0';
	if (!history_ends_parse(&ends, request->address, request->port)) {
		snprintf(error, size, "connection %llu has no ports", (unsigned long long)request->cid);
		return history_fail(EIO);
	}
	fd = write_client_open(request->socket, request->cid, &written, error, size);
	if (fd < 0)
		return history_fail(written.failure);
	result = history_read_capture(fd, &ends, history_ladder_add, &ladder);
	close(fd);
	if (result != HISTORY_READ) {
		snprintf(error, size, "the packets of connection %llu %s", (unsigned long long)request->cid,
			 result == HISTORY_DAMAGED ? "cannot be read" : "could not be observed");
		return history_fail(EIO);
	}
	error[0] = '\0';
	if (ladder.used == 0) {
		snprintf(error, size, "the flight memory has no packets of connection %llu",
			 (unsigned long long)request->cid);
		return history_fail(ENODATA);
	}
	if (ladder.cut || written.cut)
		snprintf(text + ladder.used, HISTORY_LAST_LINE, "%s\n",
			 written.cut ? "Earlier packets are not in the flight memory any more."
				     : "Earlier packets are not shown.");
	return true;
}
