/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP state machine (RFC 9293 section 3.3.2) as a table.  Sequence number checks are in flow/tcp/tcp_send.c and
 * flow/tcp/tcp_receive.c; the machine receives the result as a sequence of inputs, the ACK before the FIN.  An input has no
 * effect in a state where it is meaningless.
 */
#ifndef NETOBS_FLOW_TCP_TCP_MACHINE_H
#define NETOBS_FLOW_TCP_TCP_MACHINE_H

#include <stdint.h>

#include "flow/endpoint.h"

enum tcp_input {
	/* Sent by the endpoint. */
	INPUT_SEND_SYN,	    /* SYN without ACK */
	INPUT_SEND_SYN_ACK,
	INPUT_SEND_ACK,	    /* any segment with ACK and without SYN or RST */
	INPUT_SEND_OPEN,    /* a segment that requires that its own SYN was acknowledged */
	INPUT_SEND_FIN,
	INPUT_SEND_RST,	    /* a RST of this connection, not an answer to a stray segment */
	/* Received by the endpoint, and acceptable. */
	INPUT_RECV_SYN,
	INPUT_RECV_SYN_ACK, /* SYN,ACK that acknowledges its SYN */
	INPUT_RECV_DATA,    /* data with an ACK: the peer has a connection with this endpoint */
	INPUT_RECV_ACK_OF_SYN,
	INPUT_RECV_ACK_OF_FIN,
	INPUT_RECV_FIN,	    /* FIN in order, or covered by the endpoint's own ACK */
	INPUT_RECV_RST,
	/* Other events. */
	INPUT_TIMER_2MSL,
	INPUT_TIMER_CONNECT, /* the handshake was given up */
	INPUT_SUPERSEDED,    /* a new connection between the same ends: this one was closed */
	INPUT_COUNT
};

/* [state][input]: the next state. */
extern const uint8_t tcp_machine[TCP_STATE_COUNT][INPUT_COUNT];

static inline enum tcp_state
tcp_machine_next(enum tcp_state state, enum tcp_input input)
{
	return (enum tcp_state)tcp_machine[state][input];
}

/* Name of an input, for tests and messages.  Constant. */
const char *tcp_input_name(enum tcp_input input);

#endif
