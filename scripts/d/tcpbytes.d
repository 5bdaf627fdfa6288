/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpbytes - how many bytes go to and come from which peer?
 *
 * Sums the payload of TCP segments by the remote address and port: @sent to it, @received from it.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-send
/args[4]->tcp_payload/
{
	@sent[args[2]->ip_daddr, args[4]->tcp_dport] = sum(args[4]->tcp_payload);
}

netobs*:::tcp-receive
/args[4]->tcp_payload/
{
	@received[args[2]->ip_saddr, args[4]->tcp_sport] = sum(args[4]->tcp_payload);
}

netobs*:::tcp-send,
netobs*:::tcp-receive
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@received[%s, %d]: %@d\n", @received);
	printa("@sent[%s, %d]: %@d\n", @sent);
}
