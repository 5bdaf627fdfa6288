/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history of a connection as a ladder: what netobsd prints of its packets, the local end at the left, the other one
 * at the right.
 *
 *      SECONDS  192.0.2.10:40001                     192.0.2.80:80
 *     0.000000  closed -> syn-sent
 *     0.000000  SYN                             -->
 *     0.012000                                  <--  SYN|ACK, ack 1
 *     0.013000  PSH|ACK 1:501, ack 1            -->
 *
 * Sequence numbers count from the first byte of their end, as in tcpdump(1).
 */
#ifndef NETOBS_TOOLS_REPLAY_HISTORY_LINES_H
#define NETOBS_TOOLS_REPLAY_HISTORY_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The probes whose firings are lines of the history, for --print. */
#define HISTORY_PROBES "tcp-send,udp-send,sctp-send,tcp-state-change,sctp-state-change,tcp-retransmit"

/* Size of an end, "[IPv6]:port". */
#define HISTORY_END_SIZE 56u

struct history_lines {
	char *text; /* `size` bytes, of the caller; `used` of them are written, with a NUL behind them */
	size_t size, used;
	size_t title; /* bytes of the first line */
	bool cut;     /* the text was full: earlier lines are dropped */
	char local[HISTORY_END_SIZE], remote[HISTORY_END_SIZE];
	int64_t first_ns; /* time stamp of the first line, since the epoch */
	bool begun;
	uint32_t origin[2];  /* sequence number in front of the first byte of an end, the local one first */
	bool has_origin[2];
	char resent[24]; /* kind of the retransmission whose segment is the next line, "" none */
};

/* Adds a line that netobsd has printed.  Other lines are passed over, and those of other connections: a frame of a
 * tunnel is a packet of a connection inside, too. */
void history_lines_add(const char *line, size_t length, void *history);

#endif
