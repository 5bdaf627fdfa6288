/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history of a connection: its packets and the changes of its states, as rows, made of the firings of an observer.
 * Both ends are observed (VIEW_BOTH), so that each packet is a row once, from its sender.
 */
#ifndef NETOBS_TOOLS_HISTORY_HISTORY_H
#define NETOBS_TOOLS_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct firing;
struct observer;

enum history_kind {
	HISTORY_SEGMENT,    /* a TCP segment */
	HISTORY_DATAGRAM,   /* a UDP datagram */
	HISTORY_CHUNKS,	    /* an SCTP packet */
	HISTORY_TCP_STATE,  /* an end has another state */
	HISTORY_SCTP_STATE, /* likewise */
	HISTORY_KINDS
};

/* One row.  Fields that its kind does not have are 0.  No padding: a process can pass it to another one. */
struct history_row {
	uint64_t time; /* of a packet: its time stamp; of a change: packet time, perhaps that of an earlier row, because
			* a later packet proves it; ns since the epoch */
	uint32_t kind; /* enum history_kind */
	uint32_t end;  /* that sends the packet, or whose state changes: 0 local, 1 remote */
	/* A segment.  Sequence numbers count from the first byte of their end, as in tcpdump(1): it is 1.  If it is not
	 * captured, the first number that is captured is 1. */
	uint32_t flags;	 /* NETOBS_TH_ bits */
	uint32_t seq;	 /* of the first byte of payload, or of a FIN: the number behind a SYN */
	uint32_t ack;	 /* with NETOBS_TH_ACK only */
	uint32_t window; /* as on the wire */
	uint32_t again;	 /* kind of retransmission, enum tcp_retransmit_kind; 0: it is none */
	uint32_t length; /* bytes of payload; of a datagram, with its header */
	/* An SCTP packet. */
	uint32_t chunk;	 /* type of the first chunk */
	uint32_t chunks; /* their number */
	/* A change: enum tcp_state or enum sctp_state. */
	uint32_t before, after;
};

/* The ends of a connection, the local one first. */
struct history_ends {
	char address[2][46]; /* text, as in the arguments of probes */
	uint16_t port[2];
};

/* Reads the ends from text.  False if a port is not a number. */
bool history_ends_parse(struct history_ends *ends, const char *const address[2], const char *const port[2]);

typedef void history_take(void *context, const struct history_row *row);

/* The connection in progress.  The caller sets the ends and the receiver of rows, and clears the rest. */
struct history {
	struct history_ends ends;
	history_take *take;
	void *context;
	uint32_t origin[2]; /* sequence number before the first byte of an end */
	bool has_origin[2];
	uint32_t again; /* kind of the retransmission whose segment is the next row, 0 none */
};

/* Makes the row of a firing, if it has one.  Other probes are passed over, and other connections: a frame of a tunnel
 * is a packet of a connection inside, too. */
void history_fire(struct history *history, struct firing *firing);

/* Makes `history` the listener of an observer: history_fire() receives the firings.  Borrowed. */
void history_listen(struct history *history, struct observer *observer);

/* How the reading of a capture has ended. */
enum history_result {
	HISTORY_READ,	 /* everything has been read */
	HISTORY_DAMAGED, /* the capture is damaged, or could not be read */
	HISTORY_FAILED,	 /* no process could be started, or it has not come to its end */
};

/* Observes a capture, an open regular file at its beginning, in a process of its own that is confined like netobsd in a
 * replay, and passes the rows of the connection to `take`.  The process takes at most HISTORY_CPU_SECONDS of processor
 * time; what it writes is validated. */
enum history_result history_read_capture(int fd, const struct history_ends *ends, history_take *take, void *context);

#define HISTORY_CPU_SECONDS 120

/* Whether a row has a valid form: the reader of a pipe need not trust its writer. */
bool history_row_is_valid(const struct history_row *row);

#endif
