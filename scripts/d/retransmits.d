/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retransmits - what was retransmitted, why, and to whom?
 *
 * Counts retransmissions by kind, sender and receiver.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-retransmit
{
	@again[args[5]->tcpr_kindstr, args[2]->ip_saddr, args[2]->ip_daddr] = count();
}

netobs*:::tcp-retransmit
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
}
