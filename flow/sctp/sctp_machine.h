/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state machine of an SCTP association (RFC 9260 section 4) as a table.  The checks on verification tags, bundling
 * and incarnations are in flow/sctp/sctp_packet.c; the machine receives the result as inputs.  An input has no effect
 * in a state where it is meaningless.
 */
#ifndef NETOBS_FLOW_SCTP_SCTP_MACHINE_H
#define NETOBS_FLOW_SCTP_SCTP_MACHINE_H

#include <stdint.h>

#include "flow/endpoint.h"

enum sctp_input {
	/* What the endpoint sent. */
	SCTP_INPUT_SEND_INIT,
	SCTP_INPUT_SEND_INIT_ACK,
	SCTP_INPUT_SEND_COOKIE_ECHO,
	SCTP_INPUT_SEND_COOKIE_ACK,
	SCTP_INPUT_SEND_ESTABLISHED, /* chunks that only an established endpoint sends: DATA, SACK and the like, without
				      * a COOKIE ECHO in the packet */
	SCTP_INPUT_SEND_HEARTBEAT,   /* chunks that are also allowed in other states: HEARTBEAT and HEARTBEAT ACK */
	SCTP_INPUT_SEND_SHUTDOWN,
	SCTP_INPUT_SEND_SHUTDOWN_ACK,
	SCTP_INPUT_SEND_SHUTDOWN_COMPLETE,
	SCTP_INPUT_SEND_ABORT,
	SCTP_INPUT_SEND_REFLECTED, /* ABORT or SHUTDOWN COMPLETE with a reflected tag: the sender has no association */
	/* Received by the endpoint, with the right tag. */
	SCTP_INPUT_RECV_INIT,
	SCTP_INPUT_RECV_INIT_ACK,
	SCTP_INPUT_RECV_COOKIE_ECHO,
	SCTP_INPUT_RECV_RESTART,   /* COOKIE ECHO with both tags new: the peer restarts (section 5.2.4, action A) */
	SCTP_INPUT_RECV_COOKIE_ACK,
	SCTP_INPUT_RECV_ESTABLISHED,
	SCTP_INPUT_RECV_HEARTBEAT,
	SCTP_INPUT_RECV_SHUTDOWN,
	SCTP_INPUT_RECV_SHUTDOWN_ACK,
	SCTP_INPUT_RECV_SHUTDOWN_COMPLETE,
	SCTP_INPUT_RECV_ABORT,
	/* Other events. */
	SCTP_INPUT_TIMEOUT,    /* T1 or T2 expired: no answer to INIT, COOKIE ECHO, SHUTDOWN or SHUTDOWN ACK */
	SCTP_INPUT_SUPERSEDED, /* the endpoint started another association between the same ends, so this one was
			        * closed */
	SCTP_INPUT_COUNT
};

/* [state][input]: the next state.  While the state changes the input is applied again, so that a chunk whose
 * predecessors were not captured passes through all states of RFC 9260 up to its own. */
extern const uint8_t sctp_transitions[SCTP_STATE_COUNT][SCTP_INPUT_COUNT];

static inline enum sctp_state
sctp_machine_next(enum sctp_state state, enum sctp_input input)
{
	return (enum sctp_state)sctp_transitions[state][input];
}

/* Name of an input, for tests and messages.  Constant. */
const char *sctp_input_name(enum sctp_input input);

#endif
