/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp/tcp_machine.h"

/* Two-letter names of the states, to keep the table readable. */
enum {
	no = TCP_STATE_NONE,
	cl = TCP_STATE_CLOSED,
	li = TCP_STATE_LISTEN,
	ss = TCP_STATE_SYN_SENT,
	sr = TCP_STATE_SYN_RECEIVED,
	es = TCP_STATE_ESTABLISHED,
	f1 = TCP_STATE_FIN_WAIT_1,
	f2 = TCP_STATE_FIN_WAIT_2,
	cg = TCP_STATE_CLOSING,
	tw = TCP_STATE_TIME_WAIT,
	cw = TCP_STATE_CLOSE_WAIT,
	la = TCP_STATE_LAST_ACK,
};

/*
 * Legend.  A row is the state before, a column the input.  A cell that equals its row's state is an input without
 * effect there: a duplicate, a segment of another incarnation, or one that RFC 9293 requires to be dropped.
 *
 *  NONE          Nothing is known.  An endpoint that sends a SYN was CLOSED, one that sends a SYN,ACK was in LISTEN;
 *                the input is then applied again in that state.  An endpoint that sends an ACK, a segment that proves
 *                an open connection, or a FIN in mid-stream is in the state which that segment proves.  A peer that
 *                acknowledges and sends data proves ESTABLISHED.  A received SYN, bare ACK or RST proves nothing:
 *                any host can send one to a port without a socket.
 *  CLOSED        Only a SYN reopens it: the same attempt, repeated after a RST.
 *  LISTEN        Exists only between two inputs.  RFC 9293 also allows it to send a SYN.
 *  SYN_SENT      SYN in: simultaneous open.  SYN,ACK in, or any ACK out if the SYN,ACK was not captured: established.
 *                SYN,ACK out: it has received a SYN.  An ACK in without SYN has no effect (RFC 9293 3.10.7.3).  RST in:
 *                refused; the caller has checked that it acknowledges the SYN.  An ICMP error about the SYN ends the
 *                attempt as in Linux; in other states it has no effect (RFC 5461).
 *  SYN_RECEIVED  An ACK of its SYN in, or a segment out that requires one: established.  A bare ACK out only answers a
 *                duplicate.  FIN out: closed before the ACK came, which RFC 9293 allows and TCP Fast Open does.  A
 *                passive open that is reset ends here; the listening socket is a different one.  An ICMP error ends a
 *                simultaneous open as in SYN_SENT; the caller has checked that it is one.
 *  ESTABLISHED   FIN out and FIN in: the two ways to close.
 *  FIN_WAIT_1    ACK of FIN before FIN, or FIN before ACK of FIN; both in one segment are two inputs.
 *  FIN_WAIT_2    FIN in.
 *  CLOSE_WAIT    FIN out.
 *  LAST_ACK, CLOSING  Only the ACK of its FIN is missing.
 *  TIME_WAIT     The 2MSL timer, or a RST (RFC 1337; in Linux a RST ends the wait).
 *
 * A RST out or in closes the connection in every state; the caller decides whether it is valid.  The connect timer
 * closes a connection that is not open yet.  A superseded endpoint was closed at some earlier time that was not
 * captured.
 */
const uint8_t tcp_transitions[TCP_STATE_COUNT][TCP_INPUT_COUNT] = {
	/*                          sent                           received                                happened
	 *                          SYN S,A   ACK opn FIN RST    SYN S,A dat  aS    aF    FIN RST unr    2MSL con sup */
	[TCP_STATE_NONE]         = {cl, li,   es, es,  f1, no,    no, no, es,  no,   no,   no, no, no,    no,  no,  no},
	[TCP_STATE_CLOSED]       = {ss, cl,   cl, cl,  cl, cl,    cl, cl, cl,  cl,   cl,   cl, cl, cl,    cl,  cl,  cl},
	[TCP_STATE_LISTEN]       = {ss, sr,   li, li,  li, li,    li, li, li,  li,   li,   li, li, li,    li,  li,  li},
	[TCP_STATE_SYN_SENT]     = {ss, sr,   es, es,  ss, cl,    sr, es, ss,  ss,   ss,   ss, cl, cl,    ss,  cl,  cl},
	[TCP_STATE_SYN_RECEIVED] = {sr, sr,   sr, es,  f1, cl,    sr, es, sr,  es,   sr,   cw, cl, cl,    sr,  cl,  cl},
	[TCP_STATE_ESTABLISHED]  = {es, es,   es, es,  f1, cl,    es, es, es,  es,   es,   cw, cl, es,    es,  es,  cl},
	[TCP_STATE_FIN_WAIT_1]   = {f1, f1,   f1, f1,  f1, cl,    f1, f1, f1,  f1,   f2,   cg, cl, f1,    f1,  f1,  cl},
	[TCP_STATE_FIN_WAIT_2]   = {f2, f2,   f2, f2,  f2, cl,    f2, f2, f2,  f2,   f2,   tw, cl, f2,    f2,  f2,  cl},
	[TCP_STATE_CLOSING]      = {cg, cg,   cg, cg,  cg, cl,    cg, cg, cg,  cg,   tw,   cg, cl, cg,    cg,  cg,  cl},
	[TCP_STATE_TIME_WAIT]    = {tw, tw,   tw, tw,  tw, cl,    tw, tw, tw,  tw,   tw,   tw, cl, tw,    cl,  tw,  cl},
	[TCP_STATE_CLOSE_WAIT]   = {cw, cw,   cw, cw,  la, cl,    cw, cw, cw,  cw,   cw,   cw, cl, cw,    cw,  cw,  cl},
	[TCP_STATE_LAST_ACK]     = {la, la,   la, la,  la, cl,    la, la, la,  la,   cl,   la, cl, la,    la,  la,  cl},
};

