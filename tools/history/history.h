/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history of a connection: its packets and the changes of its states, as rows, made of the firings of an observer.
 * Both ends are observed (VIEW_BOTH), so that each packet is a row once, from its sender.
 *
 * For people the rows are a ladder: the local end at the left, the other one at the right.
 *
 *      SECONDS  192.0.2.10:40001                     192.0.2.80:80
 *     0.000000  closed -> syn-sent
 *     0.000000  SYN                             -->
 *     0.012000                                  <--  SYN|ACK, ack 1
 *     0.013000  PSH|ACK 1:501, ack 1            -->
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
	uint32_t seq;	 /* of the first byte of payload, or of a FIN: the number after a SYN */
	uint32_t ack;	 /* with NETOBS_TH_ACK only */
	uint32_t window; /* as on the wire */
	uint32_t again;	 /* kind of retransmission, enum tcp_retransmit_kind; 0: it is not a retransmission */
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

/* How the reading of a capture has ended. */
enum history_result {
	HISTORY_READ,	 /* everything has been read */
	HISTORY_DAMAGED, /* the capture is damaged, or could not be read */
	HISTORY_FAILED,	 /* no process could be started, or it has not come to its end in time */
	HISTORY_UNCONFINED, /* no process could be confined: its user, its system calls, its files */
	HISTORY_RESULTS
};

/* Observes a capture, an open regular file at its beginning, in a process of its own that is confined like netobsd in a
 * replay, and passes the rows of the connection to `take`.  The process takes at most HISTORY_SECONDS, by the clock;
 * what it writes is validated. */
enum history_result history_read_capture(int fd, const struct history_ends *ends, history_take *take, void *context);

#define HISTORY_SECONDS 120

/* Whether a row has a valid form: the reader of a pipe need not trust its writer. */
bool history_row_is_valid(const struct history_row *row);

/* Rows that the line of a row with an earlier time can be moved over. */
#define HISTORY_LADDER_LATEST 64u

struct history_ladder {
	char *text; /* `size` bytes, of the caller; `used` of them are written, with a NUL after them */
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
 * because it keeps no frames, ENODATA if it has no frames of this connection, EIO on another failure; else `error` is
 * empty. */
bool history_read(const struct history_request *request, char *text, char *error, size_t size);

#endif
