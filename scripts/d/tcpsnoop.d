/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpsnoop - every TCP segment, with its connection and the process that owns it
 *
 * TIME is the packet time since the first line, in microseconds; CID the id of the endpoint that sends (->) or
 * receives (<-), LADDR its address; 0 if there is no connection.
 */
#pragma D option quiet

uint64_t start;

BEGIN
{
	printf("%10s %6s %6s %22s %5s    %22s %5s %6s %s\n", "TIME(us)", "CID", "PID", "LADDR", "LPORT", "RADDR",
	    "RPORT", "BYTES", "FLAGS");
}

netobs*:::tcp-send,
netobs*:::tcp-receive
/start == 0/
{
	start = args[0]->pkt_ts;
}

netobs*:::tcp-send
/arg1 != 0/
{
	printf("%10d %6d %6d %22s %5d -> %22s %5d %6d %s\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0, args[1]->cs_cid, args[1]->cs_pid,
	    args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport, args[4]->tcp_payload,
	    args[4]->tcp_flagstr);
}

netobs*:::tcp-send
/arg1 == 0/
{
	printf("%10d %6d %6d %22s %5d -> %22s %5d %6d %s\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0, 0, -1,
	    args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport, args[4]->tcp_payload,
	    args[4]->tcp_flagstr);
}

netobs*:::tcp-receive
/arg1 != 0/
{
	printf("%10d %6d %6d %22s %5d <- %22s %5d %6d %s\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0, args[1]->cs_cid, args[1]->cs_pid,
	    args[2]->ip_daddr, args[4]->tcp_dport, args[2]->ip_saddr, args[4]->tcp_sport, args[4]->tcp_payload,
	    args[4]->tcp_flagstr);
}

netobs*:::tcp-receive
/arg1 == 0/
{
	printf("%10d %6d %6d %22s %5d <- %22s %5d %6d %s\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0, 0, -1,
	    args[2]->ip_daddr, args[4]->tcp_dport, args[2]->ip_saddr, args[4]->tcp_sport, args[4]->tcp_payload,
	    args[4]->tcp_flagstr);
}
