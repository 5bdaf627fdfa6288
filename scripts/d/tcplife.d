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
#pragma D option dynvarsize=32m

uint64_t start;
int established; /* connections in @open */

/*
 * By the end that opened the connection: 1 it is observed, 2 it has ended, 4 the other is observed, 8 it has ended; 16
 * none.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards.
 */
int ends[string, int, string, int];

/* D removes no key of an aggregation: the sum of a connection that has ended is -1, and the others are the greatest. */
int64_t opened[uint64_t]; /* the sum of @open and 2; 1: not open */

BEGIN
{
	printf("%6s %6s %-15s %22s %5s %22s %5s %9s %9s %7s %10s\n", "CID", "PID", "COMMAND", "LADDR", "LPORT", "RADDR",
	    "RPORT", "SENT", "RECEIVED", "RETRANS", "LASTED(ms)");
}

netobs*:::tcp-state-change
{
	start = start == 0 ? args[1]->cs_ts : start;
	this->ended = args[3]->tcps_state == NETOBS_TCP_TIME_WAIT ||
	    (args[3]->tcps_state == NETOBS_TCP_CLOSED && args[5]->tcps_state != NETOBS_TCP_TIME_WAIT);
	this->opener = args[3]->tcps_active == 1 ||
	    (args[3]->tcps_active != 0 && args[3]->tcps_lport > args[3]->tcps_rport);
	this->observed = this->ended || args[3]->tcps_state != NETOBS_TCP_CLOSED;
	this->report = 0;
}

netobs*:::tcp-state-change
/this->opener && this->observed/
{
	this->ends = ends[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] & 15;
	this->ends = this->ends | 1;
	this->ends = this->ended ? this->ends | 2 : this->ends;
	this->ends = this->ended && ((this->ends & 4) == 0 || (this->ends & 8) != 0) ? 16 : this->ends;
	ends[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] = this->ends;
	this->report = 1;
}

netobs*:::tcp-state-change
/!this->opener && this->observed/
{
	this->ends = ends[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport] & 15;
	this->ends = this->ends | 4;
	this->report = (this->ends & 1) == 0;
	this->ends = this->ended ? this->ends | 8 : this->ends;
	this->ends = this->ended && ((this->ends & 1) == 0 || (this->ends & 2) != 0) ? 16 : this->ends;
	ends[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport] = this->ends;
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_ESTABLISHED && this->report && opened[args[1]->cs_cid] == 0/
{
	this->ms = args[1]->cs_ts > start ? (args[1]->cs_ts - start) / 1000000 : 0;
	opened[args[1]->cs_cid] = this->ms + 2;
	established++;
	@open[args[1]->cs_cid, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] =
	    sum(this->ms);
}

netobs*:::tcp-state-change
/this->ended && this->report/
{
	printf("%6d %6d %-15s %22s %5d %22s %5d %9d %9d %7d %10d\n", args[1]->cs_cid, args[1]->cs_pid,
	    args[1]->cs_comm, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport,
	    args[3]->tcps_snd_bytes, args[3]->tcps_rcv_bytes, args[3]->tcps_snd_retrans,
	    args[1]->cs_ts > args[3]->tcps_start ? (args[1]->cs_ts - args[3]->tcps_start) / 1000000 : 0);
}

netobs*:::tcp-state-change
/this->ended && opened[args[1]->cs_cid] > 1/
{
	@open[args[1]->cs_cid, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] =
	    sum(1 - opened[args[1]->cs_cid]);
	opened[args[1]->cs_cid] = 1;
	established--;
}

END
{
	trunc(@open, established);
	printa("@open[%d, %s, %d, %s, %d]: %@d\n", @open);
}
