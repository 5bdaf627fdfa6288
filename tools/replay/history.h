/* SPDX-License-Identifier: BSD-2-Clause */
/* The history of a connection: its packets of the flight memory, replayed by a netobsd of its own. */
#ifndef NETOBS_TOOLS_REPLAY_HISTORY_H
#define NETOBS_TOOLS_REPLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a history, with its NUL: about 14,000 lines, the latest; the last one says if earlier ones are dropped. */
#define HISTORY_TEXT_MAX (1u << 20)

struct history_request {
	const char *socket; /* path of the control socket */
	uint64_t cid;
	const char *local_address, *local_port; /* the end at the left */
	const char *remote_address, *remote_port;
};

/* Writes lines (history_lines.h) into `text`, which has HISTORY_TEXT_MAX bytes.  False with `error`, and errno: 0 if
 * netobsd rejects the request, for example because it keeps no frames, ENODATA if it has none of this connection, EIO
 * on another failure; else `error` is empty.  Runs the netobsd that the environment variable NETOBSD names, or the
 * installed one. */
bool history_read(const struct history_request *request, char *text, char *error, size_t size);

#endif
