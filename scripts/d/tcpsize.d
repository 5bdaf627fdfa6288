/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpsize - how large are the segments?
 *
 * The payload of the TCP segments that were sent and received, in bytes.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-send
{
	@sent = quantize(args[4]->tcp_payload);
}

netobs*:::tcp-receive
{
	@received = quantize(args[4]->tcp_payload);
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
	printa("@received:%@d\n", @received);
	printa("@sent:%@d\n", @sent);
}
