/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpconnlat - how long does it take to connect?
 *
 * The packet time from the SYN to the SYN,ACK, in microseconds, by remote address.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t missed;
uint64_t last[string];

/* 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t requested[uint64_t];

netobs*:::tcp-connect-request
{
	requested[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-connect-established
/requested[args[1]->cs_cid] > 1/
{
	this->began = requested[args[1]->cs_cid];
	@connect_us[args[3]->tcps_raddr] =
	    quantize(args[0]->pkt_ts > this->began ? (args[0]->pkt_ts - this->began) / 1000 : 0);
	requested[args[1]->cs_cid] = 1;
}

netobs*:::tcp-connect-refused
/requested[args[1]->cs_cid] > 1/
{
	requested[args[1]->cs_cid] = 1;
}

netobs*:::tcp-connect-established
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@connect_us[%s]:%@d\n", @connect_us);
}
