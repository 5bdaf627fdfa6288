/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scanned - is someone scanning my ports?
 *
 * Counts the segments that were received by sender and flags: many SYN to many ports, or flags that no connection
 * has, are a scan.  @ports counts the SYNs that met a closed port, by who was refused and the port.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-receive
{
	@flags[args[2]->ip_saddr, args[4]->tcp_flagstr] = count();
}

netobs*:::tcp-accept-refused
{
	@ports[args[2]->ip_daddr, args[4]->tcp_sport] = count();
}

netobs*:::tcp-receive,
netobs*:::tcp-accept-refused
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
}
