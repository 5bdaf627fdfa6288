/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retransmits - what was retransmitted, why, and to whom?
 *
 * Counts retransmissions by kind, sender and port, receiver and port.  The kind is known if the sender is a local
 * endpoint; retransmissions of other senders are of the kind "received".
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t missed, packet;
uint64_t last[string];

/* The number and 2; 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t received[uint64_t];

netobs*:::tcp-retransmit
{
	@again[args[5]->tcpr_kindstr, args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport] =
	    count();
	packet = args[0]->pkt_addr;
}

netobs*:::tcp-receive
/arg1 != 0 && received[args[1]->cs_cid] > 1 && args[3]->tcps_rcv_retrans + 2 > received[args[1]->cs_cid] &&
    packet != args[0]->pkt_addr/
{
	@again["received", args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport] = count();
}

netobs*:::tcp-receive
/arg1 != 0/
{
	received[args[1]->cs_cid] = args[3]->tcps_rcv_retrans + 2;
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED && received[args[1]->cs_cid] > 1/
{
	received[args[1]->cs_cid] = 1;
}

netobs*:::tcp-retransmit,
netobs*:::tcp-receive
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@again[%s, %s, %d, %s, %d]: %@d\n", @again);
}
