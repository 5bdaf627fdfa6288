/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refused - which connections are refused?
 *
 * @by_me: refused by this host, by local port and client address.  @by_others: refused by others, by their address and
 * port.  @unreachable: ended by an ICMP error, by the address and port that were tried, the error, and its sender.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-accept-refused
{
	@by_me[args[4]->tcp_sport, args[2]->ip_daddr] = count(); /* the RST is on its way out */
}

netobs*:::tcp-connect-refused
/args[4]->tcp_flags != 0/ /* not an ICMP error */
{
	@by_others[args[2]->ip_saddr, args[4]->tcp_sport] = count(); /* the RST has come in */
}

netobs*:::tcp-accept-refused,
netobs*:::tcp-connect-refused
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

netobs*:::connection-end
/args[0]->cr_icmp_type >= 0/
{
	@unreachable[args[0]->cr_server, args[0]->cr_server_port, args[0]->cr_icmp_str,
	    args[0]->cr_icmp_sender] = count();
}

netobs*:::connection-end
{
	missed += last[probename] ? args[0]->cr_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->cr_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@by_me[%d, %s]: %@d\n", @by_me);
	printa("@by_others[%s, %d]: %@d\n", @by_others);
	printa("@unreachable[%s, %d, %s, %s]: %@d\n", @unreachable);
}
