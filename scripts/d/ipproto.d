/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ipproto - which protocols do which hosts use with each other?
 *
 * Counts the sent IP packets by source, destination and protocol.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::ip-send
/arg4 != 0/
{
	@packets[args[2]->ip_saddr, args[2]->ip_daddr, args[4]->ipv4_protostr] = count();
}

netobs*:::ip-send
/arg5 != 0/
{
	@packets[args[2]->ip_saddr, args[2]->ip_daddr, args[5]->ipv6_nextstr] = count();
}

netobs*:::ip-send
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@packets[%s, %s, %s]: %@d\n", @packets);
}
