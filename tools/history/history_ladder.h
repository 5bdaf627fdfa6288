/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history of a connection as a ladder: the local end at the left, the other one at the right.
 *
 *      SECONDS  192.0.2.10:40001                     192.0.2.80:80
 *     0.000000  closed -> syn-sent
 *     0.000000  SYN                             -->
 *     0.012000                                  <--  SYN|ACK, ack 1
 *     0.013000  PSH|ACK 1:501, ack 1            -->
 */
#ifndef NETOBS_TOOLS_HISTORY_HISTORY_LADDER_H
#define NETOBS_TOOLS_HISTORY_HISTORY_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/history/history.h"

/* Rows that the line of a row with an earlier time can be moved over. */
#define HISTORY_LADDER_LATEST 64u

struct history_ladder {
	char *text; /* `size` bytes, of the caller; `used` of them are written, with a NUL behind them */
	size_t size, used;
	size_t title; /* bytes of the first line */
	bool cut;     /* the text was full: earlier lines are dropped */
	bool begun;
	uint64_t first; /* time of the first row */
	uint64_t latest[HISTORY_LADDER_LATEST]; /* times of the last rows, in order */
	unsigned latest_count;
	const struct history_ends *ends;
};

/* Adds the line of a row; a history_take. */
void history_ladder_add(void *ladder, const struct history_row *row);

/* Bytes of a history, with its NUL: about 14,000 lines, the latest; the last one says if earlier ones are dropped. */
#define HISTORY_TEXT_MAX (1u << 20)

struct history_request {
	const char *socket; /* path of the control socket */
	uint64_t cid;
	const char *address[2], *port[2]; /* of the ends, the one at the left first */
};

/* Pulls the packets of a connection from the flight memory of a running netobsd, and writes their ladder into `text`,
 * which has HISTORY_TEXT_MAX bytes.  False with `error`, and errno: 0 if netobsd rejects the request, for example
 * because it keeps no frames, ENODATA if it has none of this connection, EIO on another failure; else `error` is
 * empty. */
bool history_read(const struct history_request *request, char *text, char *error, size_t size);

#endif
