/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SCTP association's state machine (RFC 9260, section 4) as data.
 *
 * Chunks are judged elsewhere (flow/sctp/sctp_packet.c): verification tags, what may be bundled, what is of another
 * incarnation.  What they prove comes here as inputs.  An input changes nothing where it means nothing.
 */
#ifndef NETOBS_FLOW_SCTP_SCTP_MACHINE_H
#define NETOBS_FLOW_SCTP_SCTP_MACHINE_H

#include <stdint.h>

#include "flow/endpoint.h"

enum sctp_input {
	/* What the endpoint sent. */
	SCTP_SEND_INIT,
	SCTP_SEND_INIT_ACK,
	SCTP_SEND_COOKIE_ECHO,
	SCTP_SEND_COOKIE_ACK,
	SCTP_SEND_OPEN,	   /* what only an established one sends: DATA, SACK and their kin, no COOKIE ECHO beside */
	SCTP_SEND_ALIVE,   /* what it can send in more states than that: HEARTBEAT and its ACK */
	SCTP_SEND_SHUTDOWN,
	SCTP_SEND_SHUTDOWN_ACK,
	SCTP_SEND_SHUTDOWN_COMPLETE,
	SCTP_SEND_ABORT,
	SCTP_SEND_REFLECTED, /* ABORT or SHUTDOWN COMPLETE with the tag reflected: it has no association */
	/* What it received, with the right tag. */
	SCTP_RECV_INIT,
	SCTP_RECV_INIT_ACK,
	SCTP_RECV_COOKIE_ECHO,
	SCTP_RECV_RESTART,   /* a COOKIE ECHO with both tags new: the peer begins again (section 5.2.4, action A) */
	SCTP_RECV_COOKIE_ACK,
	SCTP_RECV_OPEN,
	SCTP_RECV_ALIVE,
	SCTP_RECV_SHUTDOWN,
	SCTP_RECV_SHUTDOWN_ACK,
	SCTP_RECV_SHUTDOWN_COMPLETE,
	SCTP_RECV_ABORT,
	/* What happened to it. */
	SCTP_GAVE_UP,	 /* T1 or T2 ran out: no answer to INIT, COOKIE ECHO, SHUTDOWN or SHUTDOWN ACK */
	SCTP_SUPERSEDED, /* its host has begun anew from the same ends: it must have been closed */
	SCTP_INPUT_COUNT
};

/* [state][input]: the state after.  Where that is another state, the input is applied to it again until nothing
 * changes: so a chunk seen without those before it leads along the arrows of RFC 9260. */
extern const uint8_t sctp_machine[SCTP_STATE_COUNT][SCTP_INPUT_COUNT];

static inline enum sctp_state
sctp_machine_next(enum sctp_state state, enum sctp_input input)
{
	return (enum sctp_state)sctp_machine[state][input];
}

/* The word of an input, for tests and messages.  Constant. */
const char *sctp_input_name(enum sctp_input input);

#endif
