/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arpwatch - which hardware address has which IP address, and when does this change?
 *
 * TIME is packet time since the first line, in milliseconds.  CHANGED means a new network card, or another host that
 * claims the address.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t start;
int announced, known[string, string], holders[string];

netobs*:::arp-receive
/start == 0/
{
	start = args[0]->pkt_ts;
}

netobs*:::arp-receive
/args[4]->arp_spa != "0.0.0.0" && !known[args[4]->arp_spa, args[4]->arp_sha]/ /* of an ARP probe (RFC 5227) */
{
	printf("%10d  %-15s is at %s%s\n", args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000000 : 0,
	    args[4]->arp_spa, args[4]->arp_sha, holders[args[4]->arp_spa] ? ", CHANGED" : "");
	announced = 1;
	known[args[4]->arp_spa, args[4]->arp_sha] = 1;
	holders[args[4]->arp_spa]++;
}

END
/!announced/
{
	printf("no ARP packet announces an address\n");
}
