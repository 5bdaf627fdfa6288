/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scanned - is someone scanning my ports?
 *
 * Counts received segments by sender and flags: many SYNs, or flags that no connection uses, indicate a scan.  @ports
 * counts the SYNs to closed ports by sender and port.
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
	printa("@flags[%s, %s]: %@d\n", @flags);
	printa("@ports[%s, %d]: %@d\n", @ports);
}
