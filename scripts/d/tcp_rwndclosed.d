/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_rwndclosed - which hosts keep a peer waiting with a closed window?
 *
 * The packet time from a segment that closes the sender's receive window to the one that opens it again, in
 * microseconds, by the address and port that closed it.  @never_opened: for windows that were not opened again, the
 * time to the last segment that advertised them as closed, with the peer's address and port.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t missed;
uint64_t last[string];
int shut; /* windows that are closed now */

/*
 * 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards.  D removes no key of
 * an aggregation: the sum of a window that was opened again is -1, and the others are the greatest ones.
 */
uint64_t closed[uint64_t];
int64_t never[uint64_t]; /* the sum of @never_opened */

netobs*:::tcp-send
{
	this->window = arg1 != 0 && (args[4]->tcp_flags & NETOBS_TH_RST) == 0;
}

netobs*:::tcp-send
/this->window && args[4]->tcp_window == 0 && closed[args[1]->cs_cid] <= 1/
{
	this->again = closed[args[1]->cs_cid] == 1;
	closed[args[1]->cs_cid] = args[0]->pkt_ts;
	never[args[1]->cs_cid] = 1; /* and 1 */
	shut++;
	@never_opened[args[3]->tcps_laddr, args[4]->tcp_sport, args[3]->tcps_raddr, args[4]->tcp_dport] =
	    sum(this->again);
}

netobs*:::tcp-send
/this->window && args[4]->tcp_window == 0/
{
	this->began = closed[args[1]->cs_cid];
	this->us = (args[0]->pkt_ts > this->began ? (args[0]->pkt_ts - this->began) / 1000 : 0) + 1;
	@never_opened[args[3]->tcps_laddr, args[4]->tcp_sport, args[3]->tcps_raddr, args[4]->tcp_dport] =
	    sum(this->us - never[args[1]->cs_cid]);
	never[args[1]->cs_cid] = this->us;
}

netobs*:::tcp-send
/this->window && args[4]->tcp_window != 0 && closed[args[1]->cs_cid] > 1/
{
	this->began = closed[args[1]->cs_cid];
	@closed_us[args[3]->tcps_laddr, args[4]->tcp_sport] =
	    quantize(args[0]->pkt_ts > this->began ? (args[0]->pkt_ts - this->began) / 1000 : 0);
	@never_opened[args[3]->tcps_laddr, args[4]->tcp_sport, args[3]->tcps_raddr, args[4]->tcp_dport] =
	    sum(0 - never[args[1]->cs_cid]);
	closed[args[1]->cs_cid] = 1;
	shut--;
}

netobs*:::tcp-send
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@closed_us[%s, %d]:%@d\n", @closed_us);
	trunc(@never_opened, shut);
	printa("@never_opened[%s, %d, %s, %d]: %@d\n", @never_opened);
}
