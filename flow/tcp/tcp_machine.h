/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP state machine (RFC 9293 section 3.3.2) as a table.  Sequence number checks are in flow/tcp/tcp_send.c and
 * flow/tcp/tcp_receive.c; the machine receives the result as a sequence of inputs, the ACK before the FIN.  An input
 * has no effect in a state where it is meaningless.
 */
#ifndef NETOBS_FLOW_TCP_TCP_MACHINE_H
#define NETOBS_FLOW_TCP_TCP_MACHINE_H

#include <stdint.h>

#include "flow/endpoint.h"

enum tcp_input {
	/* Sent by the endpoint. */
	TCP_INPUT_SEND_SYN,	    /* SYN without ACK */
	TCP_INPUT_SEND_SYN_ACK,
	TCP_INPUT_SEND_ACK,	     /* any segment with ACK and without SYN or RST */
	TCP_INPUT_SEND_SYNCHRONIZED, /* a segment that requires that its own SYN was acknowledged */
	TCP_INPUT_SEND_FIN,
	TCP_INPUT_SEND_RST,	    /* a RST of this connection, not an answer to a stray segment */
	/* Received by the endpoint, and acceptable. */
	TCP_INPUT_RECV_SYN,
	TCP_INPUT_RECV_SYN_ACK, /* SYN,ACK that acknowledges its SYN */
	TCP_INPUT_RECV_DATA,	/* data with an ACK: the peer has a connection with this endpoint */
	TCP_INPUT_RECV_ACK_OF_SYN,
	TCP_INPUT_RECV_ACK_OF_FIN,
	TCP_INPUT_RECV_FIN,	    /* FIN in order, or covered by the endpoint's own ACK */
	TCP_INPUT_RECV_RST,
	TCP_INPUT_RECV_UNREACHABLE, /* an ICMP error about its SYN */
	/* Other events. */
	TCP_INPUT_TIMER_2MSL,
	TCP_INPUT_TIMER_CONNECT, /* the handshake was given up */
	TCP_INPUT_SUPERSEDED,	 /* a new connection between the same ends: this one was closed */
	TCP_INPUT_COUNT
};

/* [state][input]: the next state. */
extern const uint8_t tcp_transitions[TCP_STATE_COUNT][TCP_INPUT_COUNT];

static inline enum tcp_state
tcp_machine_next(enum tcp_state state, enum tcp_input input)
{
	return (enum tcp_state)tcp_transitions[state][input];
}

#endif
