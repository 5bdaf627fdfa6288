/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpaccept - who connects to which of my ports?
 *
 * Counts the connections that were accepted by the address of the client and the local port.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-accept-established
{
	@accepted[args[3]->tcps_raddr, args[3]->tcps_lport] = count();
}

netobs*:::tcp-accept-established
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@accepted[%s, %d]: %@d\n", @accepted);
}
