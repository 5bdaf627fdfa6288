/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/sctp/sctp_internal.h"

/* Two-letter names of the states, to keep the table readable. */
enum {
	no = SCTP_STATE_NONE,
	cl = SCTP_STATE_CLOSED,
	cw = SCTP_STATE_COOKIE_WAIT,
	ce = SCTP_STATE_COOKIE_ECHOED,
	es = SCTP_STATE_ESTABLISHED,
	sp = SCTP_STATE_SHUTDOWN_PENDING,
	ss = SCTP_STATE_SHUTDOWN_SENT,
	sr = SCTP_STATE_SHUTDOWN_RECEIVED,
	sa = SCTP_STATE_SHUTDOWN_ACK_SENT,
};

/*
 * Legend.  A row is the state before, a column the input.  A cell that equals its row's state is an input without
 * effect there: a duplicate, or a chunk that RFC 9260 requires to be discarded.
 *
 *  NONE               Nothing is known.  An endpoint that sends an INIT, INIT ACK or COOKIE ACK was CLOSED; the input
 *                     is then applied again in that state.  An endpoint that sends anything else is in the state which
 *                     that chunk proves; how it got there was not captured.  Received chunks prove nothing: any host
 *                     can send to a port without a socket.
 *  CLOSED             INIT out: active open.  A server stays here through INIT and INIT ACK, because its only state is
 *                     the cookie (section 5.1); COOKIE ECHO in or COOKIE ACK out makes it ESTABLISHED.  COOKIE ECHO
 *                     out: a restarted endpoint, whose INIT was withheld from the machine until this chunk confirmed
 *                     it.  Anything else out is late.
 *  COOKIE_WAIT        INIT ACK in.  COOKIE ECHO in or COOKIE ACK out: both sides opened (section 5.2.1; 5.2.4, actions
 *                     B and D).  A chunk that only an established endpoint sends shows that the answers were not
 *                     captured.  A packet with a reflected tag is its answer to a stray SHUTDOWN ACK (section 8.5.1, E)
 *                     and does not change its own state.
 *  COOKIE_ECHOED      COOKIE ACK in.  INIT out: its cookie was stale (section 5.2.6).  HEARTBEAT ACK is allowed here
 *                     (section 8.3), so it proves nothing.
 *  ESTABLISHED        A repeated INIT can be forged; it takes effect only with its COOKIE ECHO.  SHUTDOWN out passes
 *                     through SHUTDOWN_PENDING, which is invisible in the capture and has ended by then.  SHUTDOWN ACK
 *                     out shows that a SHUTDOWN was received; SHUTDOWN COMPLETE out, that both the SHUTDOWN and its
 *                     answer were not captured.
 *  SHUTDOWN_SENT      SHUTDOWN ACK in: closed.  SHUTDOWN in: both sides closed at once (section 9.2).  A restarted peer
 *                     leads back to ESTABLISHED, here and in SHUTDOWN_RECEIVED.
 *  SHUTDOWN_RECEIVED  SHUTDOWN ACK out.  SHUTDOWN out: sent before the peer's SHUTDOWN arrived, which it now answers.
 *                     SHUTDOWN COMPLETE in answers a SHUTDOWN ACK that was not captured.
 *  SHUTDOWN_ACK_SENT  SHUTDOWN COMPLETE in; SHUTDOWN ACK in if both sides closed at once.  Its peer cannot restart: it
 *                     receives an ERROR, Cookie Received While Shutting Down (section 5.2.4, action A).
 *
 * ABORT closes the association in every state.
 */
const uint8_t sctp_transitions[SCTP_STATE_COUNT][SCTP_INPUT_COUNT] = {
	/* sent:                              INI I-A C-E C-A open live SHU S-A S-C ABO refl */
	/* received:                          INI I-A C-E new C-A  open live SHU S-A S-C ABO */
	/* happened:                          gave-up superseded */
	[SCTP_STATE_NONE] =		     {cl, cl, ce, cl, es,  es,  ss, sa, cl, cl, cl,
					      no, no, no, no, no,  no,  no, no, no, no, no,
					      no, no},
	[SCTP_STATE_CLOSED] =		     {cw, cl, cw, es, cl,  cl,  cl, cl, cl, cl, cl,
					      cl, cl, es, es, cl,  cl,  cl, cl, cl, cl, cl,
					      cl, cl},
	[SCTP_STATE_COOKIE_WAIT] =	     {cw, cw, ce, es, ce,  cw,  ce, ce, cw, cl, cw,
					      cw, ce, es, es, cw,  cw,  cw, cw, cw, cw, cl,
					      cl, cl},
	[SCTP_STATE_COOKIE_ECHOED] =	     {cw, ce, ce, es, es,  ce,  es, es, ce, cl, ce,
					      ce, ce, es, es, es,  ce,  ce, ce, ce, ce, cl,
					      cl, cl},
	[SCTP_STATE_ESTABLISHED] =	     {es, es, es, es, es,  es,  sp, sr, sp, cl, cl,
					      es, es, es, es, es,  es,  es, sr, es, es, cl,
					      es, cl},
	[SCTP_STATE_SHUTDOWN_PENDING] =	     {sp, sp, sp, sp, sp,  sp,  ss, sr, ss, cl, cl,
					      sp, sp, sp, es, sp,  sp,  sp, sr, sp, sp, cl,
					      cl, cl},
	[SCTP_STATE_SHUTDOWN_SENT] =	     {ss, ss, ss, ss, ss,  ss,  ss, sa, cl, cl, cl,
					      ss, ss, ss, es, ss,  ss,  ss, sa, cl, ss, cl,
					      cl, cl},
	[SCTP_STATE_SHUTDOWN_RECEIVED] =     {sr, sr, sr, sr, sr,  sr,  ss, sa, sa, cl, cl,
					      sr, sr, sr, es, sr,  sr,  sr, sr, sr, sa, cl,
					      cl, cl},
	[SCTP_STATE_SHUTDOWN_ACK_SENT] =     {sa, sa, sa, sa, sa,  sa,  sa, sa, cl, cl, cl,
					      sa, sa, sa, sa, sa,  sa,  sa, sa, cl, cl, cl,
					      cl, cl},
};

