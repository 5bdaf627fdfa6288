/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipio - every IP packet, as it is sent and received
 *
 * DELTA is the packet time since the line before, in microseconds.
 */
#pragma D option quiet

uint64_t last;

BEGIN
{
	printf("%10s  %-39s    %-39s %-8s %8s\n", "DELTA(us)", "SOURCE", "DEST", "INT", "BYTES");
}

netobs*:::ip-send
{
	printf("%10d  %-39s -> %-39s %-8s %8d\n", last && args[0]->pkt_ts > last ? (args[0]->pkt_ts - last) / 1000 : 0,
	    args[2]->ip_saddr, args[2]->ip_daddr, args[3]->if_name, args[2]->ip_plength);
	last = args[0]->pkt_ts;
}

netobs*:::ip-receive
{
	printf("%10d  %-39s <- %-39s %-8s %8d\n", last && args[0]->pkt_ts > last ? (args[0]->pkt_ts - last) / 1000 : 0,
	    args[2]->ip_daddr, args[2]->ip_saddr, args[3]->if_name, args[2]->ip_plength);
	last = args[0]->pkt_ts;
}
