/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp1stbyte - how long until the first byte of an answer?
 *
 * The packet time from the last byte of a request to the first byte of its answer, in microseconds, by remote address.
 * Requests are what the end that opened the connection sends; the time that it waits before them does not count.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t missed;
uint64_t last[string];

/* 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t asked[uint64_t];

netobs*:::tcp-send
/arg1 != 0 && args[4]->tcp_payload && args[3]->tcps_active == 1 && !args[3]->tcps_retransmit/
{
	asked[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-receive
/arg1 != 0 && args[4]->tcp_payload && asked[args[1]->cs_cid] > 1/
{
	this->began = asked[args[1]->cs_cid];
	@first_byte_us[args[3]->tcps_raddr] =
	    quantize(args[0]->pkt_ts > this->began ? (args[0]->pkt_ts - this->began) / 1000 : 0);
	asked[args[1]->cs_cid] = 1;
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED && asked[args[1]->cs_cid] > 1/
{
	asked[args[1]->cs_cid] = 1;
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
	printa("@first_byte_us[%s]:%@d\n", @first_byte_us);
}
