/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP state machine (RFC 9293, section 3.3.2) as data.
 *
 * A segment is judged by its sequence numbers elsewhere (flow/tcp/tcp_send.c, flow/tcp/tcp_receive.c); what it proves comes
 * here as a sequence of inputs, the ACK before the FIN.  An input changes nothing where it means nothing.
 */
#ifndef NETOBS_FLOW_TCP_TCP_MACHINE_H
#define NETOBS_FLOW_TCP_TCP_MACHINE_H

#include <stdint.h>

#include "flow/endpoint.h"

enum tcp_input {
	/* What the endpoint sent. */
	INPUT_SEND_SYN,	    /* SYN without ACK */
	INPUT_SEND_SYN_ACK,
	INPUT_SEND_ACK,	    /* any segment with ACK and without SYN or RST */
	INPUT_SEND_OPEN,    /* a segment that it could only send once its own SYN was acknowledged */
	INPUT_SEND_FIN,
	INPUT_SEND_RST,	    /* of this connection, not one that answers somebody's stray segment */
	/* What it received and must accept. */
	INPUT_RECV_SYN,
	INPUT_RECV_SYN_ACK, /* that acknowledges its SYN */
	INPUT_RECV_DATA,    /* data with an ACK: the peer knows a connection here */
	INPUT_RECV_ACK_OF_SYN,
	INPUT_RECV_ACK_OF_FIN,
	INPUT_RECV_FIN,	    /* in order, or its own ACK covers it */
	INPUT_RECV_RST,
	/* What happened to it. */
	INPUT_TIMER_2MSL,
	INPUT_TIMER_CONNECT, /* the handshake was given up */
	INPUT_SUPERSEDED,    /* its ends began another connection: it must have been closed */
	INPUT_COUNT
};

/* [state][input]: the state after. */
extern const uint8_t tcp_machine[TCP_STATE_COUNT][INPUT_COUNT];

static inline enum tcp_state
tcp_machine_next(enum tcp_state state, enum tcp_input input)
{
	return (enum tcp_state)tcp_machine[state][input];
}

/* The word of an input, for tests and messages.  Constant. */
const char *tcp_input_name(enum tcp_input input);

#endif
