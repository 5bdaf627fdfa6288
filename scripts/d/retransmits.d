/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retransmits - what was retransmitted, why, and to whom?
 *
 * Counts retransmissions by kind, sender and port, receiver and port.  The kind is known if the sender is a local
 * endpoint; retransmissions of other senders are of the kind "received".
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
	printa("@again[%s, %s, %s]: %@d\n", @again);
}
