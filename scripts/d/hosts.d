/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hosts - which hosts are responsible for the load?
 *
 * Sums IP payload bytes: @from by the source address of received packets, @to by the destination address of sent
 * packets.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::ip-receive
{
	@from[args[2]->ip_saddr] = sum(args[2]->ip_plength);
}

netobs*:::ip-send
{
	@to[args[2]->ip_daddr] = sum(args[2]->ip_plength);
}

netobs*:::ip-receive,
netobs*:::ip-send
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@from[%s]: %@d\n", @from);
	printa("@to[%s]: %@d\n", @to);
}
