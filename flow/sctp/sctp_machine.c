/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/sctp/sctp_machine.h"

/* Two letters a state, so that the table can be read as a table. */
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
 * Legend.  A row is the state before, a column the input; a cell that repeats its row's state is an input that means
 * nothing there: a duplicate, or a chunk that RFC 9260 says to discard.
 *
 *  NONE	Nothing is known.  Who sends an INIT, an INIT ACK or a COOKIE ACK was CLOSED: the input is then applied
 *		once more to that state.  Who sends anything else is in the state that this chunk proves, and nobody saw
 *		how it came there.  What it receives proves nothing: anybody may send to a port where nobody is.
 *  CLOSED	INIT out: active open.  A server stays here through INIT and INIT ACK, because the cookie is its only
 *		memory (section 5.1); the COOKIE ECHO, or its COOKIE ACK, makes it ESTABLISHED.  COOKIE ECHO out: what a
 *		restarted host does, whose INIT was held back from the machine until this proved it.  Anything else out
 *		is late.
 *  COOKIE_WAIT	INIT ACK in.  COOKIE ECHO in or COOKIE ACK out: both sides began (section 5.2.1; 5.2.4, actions B and
 *		D).  What only an established endpoint sends shows that the answers went by unseen.  A reflected tag is
 *		its answer to a stray SHUTDOWN ACK (section 8.5.1, E), nothing of its own.
 *  COOKIE_ECHOED COOKIE ACK in.  INIT out: its cookie was stale (section 5.2.6).  HEARTBEAT ACK may be sent here
 *		already (section 8.3), so it proves nothing.
 *  ESTABLISHED	A repeated INIT proves nothing before its COOKIE ECHO does: anybody can forge one.  SHUTDOWN out leads
 *		through SHUTDOWN_PENDING, which begins where nobody sees it and has ended by then.  SHUTDOWN ACK out
 *		shows that a SHUTDOWN has come, SHUTDOWN COMPLETE out that both it and its answer went by unseen.
 *  SHUTDOWN_SENT SHUTDOWN ACK in: done.  SHUTDOWN in: both closed at once (section 9.2).  A restarted peer leads
 *		back to ESTABLISHED, here and in SHUTDOWN_RECEIVED.
 *  SHUTDOWN_RECEIVED SHUTDOWN ACK out.  SHUTDOWN out: it was sent before the other one came, which it now answers.
 *		SHUTDOWN COMPLETE in answers a SHUTDOWN ACK that went by unseen.
 *  SHUTDOWN_ACK_SENT SHUTDOWN COMPLETE in; SHUTDOWN ACK in, where both closed at once.  Its peer cannot begin anew
 *		(section 5.2.4, action A): it is told to wait.
 *
 *  ABORT closes whatever there is, at once.
 */
const uint8_t sctp_machine[SCTP_STATE_COUNT][SCTP_INPUT_COUNT] = {
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

const char *
sctp_input_name(enum sctp_input input)
{
	static const char *const names[SCTP_INPUT_COUNT] = {
		[SCTP_SEND_INIT] = "send-init",
		[SCTP_SEND_INIT_ACK] = "send-init-ack",
		[SCTP_SEND_COOKIE_ECHO] = "send-cookie-echo",
		[SCTP_SEND_COOKIE_ACK] = "send-cookie-ack",
		[SCTP_SEND_OPEN] = "send-open",
		[SCTP_SEND_ALIVE] = "send-alive",
		[SCTP_SEND_SHUTDOWN] = "send-shutdown",
		[SCTP_SEND_SHUTDOWN_ACK] = "send-shutdown-ack",
		[SCTP_SEND_SHUTDOWN_COMPLETE] = "send-shutdown-complete",
		[SCTP_SEND_ABORT] = "send-abort",
		[SCTP_SEND_REFLECTED] = "send-reflected",
		[SCTP_RECV_INIT] = "recv-init",
		[SCTP_RECV_INIT_ACK] = "recv-init-ack",
		[SCTP_RECV_COOKIE_ECHO] = "recv-cookie-echo",
		[SCTP_RECV_RESTART] = "recv-restart",
		[SCTP_RECV_COOKIE_ACK] = "recv-cookie-ack",
		[SCTP_RECV_OPEN] = "recv-open",
		[SCTP_RECV_ALIVE] = "recv-alive",
		[SCTP_RECV_SHUTDOWN] = "recv-shutdown",
		[SCTP_RECV_SHUTDOWN_ACK] = "recv-shutdown-ack",
		[SCTP_RECV_SHUTDOWN_COMPLETE] = "recv-shutdown-complete",
		[SCTP_RECV_ABORT] = "recv-abort",
		[SCTP_GAVE_UP] = "gave-up",
		[SCTP_SUPERSEDED] = "superseded",
	};

	return names[input];
}
