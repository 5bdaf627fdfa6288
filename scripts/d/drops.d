/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops - which packets does IP discard, and why?
 *
 * Counts them by the word of netobs(7) and the source.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::ip-drop-in
{
	@in[args[0]->pkt_reason, args[2]->ip_saddr] = count();
}

netobs*:::ip-drop-out
{
	@out[args[0]->pkt_reason, args[2]->ip_saddr] = count();
}

netobs*:::ip-drop-in,
netobs*:::ip-drop-out
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
}
