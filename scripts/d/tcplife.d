/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcplife - one line for each connection when it ends
 *
 * SENT, RECEIVED and RETRANS are those of the local end; if both ends are local, of the end that reaches TIME-WAIT or
 * CLOSED first.  LASTED is packet time from the first segment captured to the end, in milliseconds.
 */
#pragma D option quiet

int reported[string, uint16_t, string, uint16_t];

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
/this->ended && this->other/
{
	reported[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport] = 0;
}

netobs*:::tcp-state-change
/this->ended && !this->other/
{
	reported[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] = 1;
	printf("%6d %6d %-12s %22s:%-5d %22s:%-5d %9d %9d %7d %10d\n", args[1]->cs_cid, args[1]->cs_pid,
	    args[1]->cs_comm, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport,
	    args[3]->tcps_snd_bytes, args[3]->tcps_rcv_bytes, args[3]->tcps_snd_retrans,
	    (args[1]->cs_ts - args[3]->tcps_start) / 1000000);
}
