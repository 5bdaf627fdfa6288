/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_rwndclosed - which hosts keep a peer waiting with a closed window?
 *
 * The packet time from a segment that closes the sender's receive window to the one that opens it again, in
 * microseconds, by the address and port that closed it.  @never_opened: for windows that were not opened again, the
 * time to the last segment that advertised them as closed, with the peer's address and port.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

/* 1: none.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t closed[uint64_t];

netobs*:::tcp-send
/arg1 != 0 && args[4]->tcp_window == 0 && (args[4]->tcp_flags & NETOBS_TH_RST) == 0 && closed[args[1]->cs_cid] <= 1/
{
	closed[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-send
/arg1 != 0 && args[4]->tcp_window != 0 && (args[4]->tcp_flags & NETOBS_TH_RST) == 0 && closed[args[1]->cs_cid] > 1/
{
	@closed_us[args[2]->ip_saddr, args[4]->tcp_sport] =
	    quantize((args[0]->pkt_ts - closed[args[1]->cs_cid]) / 1000);
	closed[args[1]->cs_cid] = 1;
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
}
