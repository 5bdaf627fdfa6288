/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpstate - every change of a TCP state, and how long the state before had lasted
 *
 * IN is the packet time in the old state, in microseconds; 0 for the first change of an endpoint.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

/* 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t since[uint64_t];

BEGIN
{
	printf("%6s %10s  %22s %5s %22s %5s  %s\n", "CID", "IN(us)", "LADDR", "LPORT", "RADDR", "RPORT", "STATE");
}

netobs*:::tcp-state-change
{
	this->since = since[args[1]->cs_cid];
	printf("%6d %10d  %22s %5d %22s %5d  %s -> %s\n", args[1]->cs_cid,
	    this->since > 1 && args[1]->cs_ts > this->since ? (args[1]->cs_ts - this->since) / 1000 : 0,
	    args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport, args[5]->tcps_statestr,
	    args[3]->tcps_statestr);
	since[args[1]->cs_cid] = args[3]->tcps_state == NETOBS_TCP_CLOSED ? 1 : args[1]->cs_ts;
}
