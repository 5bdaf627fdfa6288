/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outbound - why are outbound connections slow?
 *
 * For each remote address, on average: microseconds from the SYN to the SYN,ACK; from the last byte of a request to the
 * first byte of its answer; and bytes received per second within answers, for connections that have ended.  In packet
 * time.  The time that the client waits before a request does not count.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

/* 1: none.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t requested[uint64_t], open[uint64_t], began[uint64_t];

netobs*:::tcp-connect-request
{
	requested[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-connect-established
/requested[args[1]->cs_cid] > 1/
{
	@connect_us[args[3]->tcps_raddr] = avg((args[0]->pkt_ts - requested[args[1]->cs_cid]) / 1000);
	open[args[1]->cs_cid] = args[0]->pkt_ts;
	requested[args[1]->cs_cid] = 1;
}

netobs*:::tcp-receive
/arg1 != 0 && args[4]->tcp_payload && open[args[1]->cs_cid] > 1/
{
	@first_byte_us[args[3]->tcps_raddr] = avg((args[0]->pkt_ts - open[args[1]->cs_cid]) / 1000);
	began[args[1]->cs_cid] = args[0]->pkt_ts;
	open[args[1]->cs_cid] = 1;
}

netobs*:::tcp-state-change
/began[args[1]->cs_cid] > 1 &&
    (args[3]->tcps_state == NETOBS_TCP_TIME_WAIT || args[3]->tcps_state == NETOBS_TCP_CLOSED)/
{
	this->us = (args[1]->cs_ts - began[args[1]->cs_cid]) / 1000;
	@bytes_per_second[args[3]->tcps_raddr] = avg(args[3]->tcps_rcv_bytes * 1000000 / (this->us + 1));
	began[args[1]->cs_cid] = 1;
}

netobs*:::tcp-receive
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@bytes_per_second[%s]: %@d\n", @bytes_per_second);
	printa("@connect_us[%s]: %@d\n", @connect_us);
	printa("@first_byte_us[%s]: %@d\n", @first_byte_us);
}
