/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpconnect - every outgoing connection attempt, with its process
 */
#pragma D option quiet

BEGIN
{
	printf("%6s %7s %-16s %22s %22s %5s\n", "CID", "PID", "COMMAND", "LADDR", "RADDR", "RPORT");
}

netobs*:::tcp-connect-request
{
	printf("%6d %7d %-16s %22s %22s %5d\n", args[1]->cs_cid, args[1]->cs_pid, args[1]->cs_comm, args[3]->tcps_laddr,
	    args[3]->tcps_raddr, args[3]->tcps_rport);
}
