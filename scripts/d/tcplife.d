/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcplife - one line for each connection when it ends
 *
 * L is the local end, R the remote one; if both are local, L is the end that opened the connection, or, if that is not
 * known, the one with the higher port.  SENT, RECEIVED and RETRANS are those of L, LASTED is packet time from the first
 * segment captured to the end, in milliseconds.  @open: the connections that are still established, by CID, LADDR,
 * LPORT, RADDR and RPORT, with the packet time from the first event to their opening, in milliseconds.
 */
#pragma D option quiet

/* 1: reported, 2: no longer.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
int reported[string, int, string, int];

BEGIN
{
	printf("%6s %6s %-12s %22s:%-5s %22s:%-5s %9s %9s %7s %10s\n", "CID", "PID", "COMMAND", "LADDR", "PORT",
	    "RADDR", "PORT", "SENT", "RECEIVED", "RETRANS", "LASTED(ms)");
}

netobs*:::tcp-state-change
{
	this->ended = args[3]->tcps_state == NETOBS_TCP_TIME_WAIT ||
	    (args[3]->tcps_state == NETOBS_TCP_CLOSED && args[5]->tcps_state != NETOBS_TCP_TIME_WAIT);
	this->other = reported[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport];
}

netobs*:::tcp-state-change
/this->ended && this->other == 1/
{
	reported[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport] = 2;
}

netobs*:::tcp-state-change
/this->ended && this->other != 1/
{
	reported[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] = 1;
	printf("%6d %6d %-12s %22s:%-5d %22s:%-5d %9d %9d %7d %10d\n", args[1]->cs_cid, args[1]->cs_pid,
	    args[1]->cs_comm, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport,
	    args[3]->tcps_snd_bytes, args[3]->tcps_rcv_bytes, args[3]->tcps_snd_retrans,
	    (args[1]->cs_ts - args[3]->tcps_start) / 1000000);
}
