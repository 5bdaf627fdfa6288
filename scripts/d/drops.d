/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops - which packets does IP discard, and why?
 *
 * Counts packets by the name of their anomaly, which netobs(7) explains, and source address.
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
	printa("@in[%s, %s]: %@d\n", @in);
	printa("@out[%s, %s]: %@d\n", @out);
}
