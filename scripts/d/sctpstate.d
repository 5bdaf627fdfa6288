/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sctpstate - every change of state of an SCTP association
 *
 * States are numbers: 1 closed, 2 cookie-wait, 3 cookie-echoed, 4 established, 5 shutdown-pending, 6 shutdown-sent,
 * 7 shutdown-received, 8 shutdown-ack-sent.  IN is the packet time in the old state, in microseconds.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

/* 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t since[uint64_t];

BEGIN
{
	printf("%6s %10s  %22s %5s %22s %5s  %s\n", "CID", "IN(us)", "LADDR", "LPORT", "RADDR", "RPORT", "STATE");
}

netobs*:::sctp-state-change
{
	this->since = since[args[1]->cs_cid];
	printf("%6d %10d  %22s %5d %22s %5d  %d -> %d\n", args[1]->cs_cid,
	    this->since > 1 && args[1]->cs_ts > this->since ? (args[1]->cs_ts - this->since) / 1000 : 0,
	    args[3]->sctps_laddr, args[3]->sctps_lport, args[3]->sctps_raddr, args[3]->sctps_rport,
	    args[5]->sctps_state, args[3]->sctps_state);
	since[args[1]->cs_cid] = args[3]->sctps_state == NETOBS_SCTP_CLOSED ? 1 : args[1]->cs_ts;
}
