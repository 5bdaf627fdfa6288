/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * outbound - why are outbound connections slow?
 *
 * For each remote address, on average: microseconds from the SYN to the SYN,ACK; from the last byte of a request to the
 * first byte of its answer; and bytes received per second within answers, for connections that have ended.  In packet
 * time.  The time that the client waits before a request does not count.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t missed;
uint64_t last[string];

/* 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t requested[uint64_t], asked[uint64_t], received[uint64_t], bytes[uint64_t], spent[uint64_t];

netobs*:::tcp-connect-request
{
	requested[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-connect-established
/requested[args[1]->cs_cid] > 1/
{
	this->began = requested[args[1]->cs_cid];
	@connect_us[args[3]->tcps_raddr] =
	    avg(args[0]->pkt_ts > this->began ? (args[0]->pkt_ts - this->began) / 1000 : 0);
	requested[args[1]->cs_cid] = 1;
}

netobs*:::tcp-send
/arg1 != 0 && args[4]->tcp_payload && args[3]->tcps_active == 1 && !args[3]->tcps_retransmit/
{
	asked[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-receive
{
	this->answer = arg1 != 0 && args[4]->tcp_payload && args[3]->tcps_active == 1;
}

/* bytes and spent begin at 1. */
netobs*:::tcp-receive
/this->answer && asked[args[1]->cs_cid] <= 1 && received[args[1]->cs_cid] > 1/
{
	bytes[args[1]->cs_cid] = (bytes[args[1]->cs_cid] ? bytes[args[1]->cs_cid] : 1) + args[4]->tcp_payload;
	this->began = received[args[1]->cs_cid];
	spent[args[1]->cs_cid] = (spent[args[1]->cs_cid] ? spent[args[1]->cs_cid] : 1) +
	    (args[0]->pkt_ts > this->began ? args[0]->pkt_ts - this->began : 0);
}

netobs*:::tcp-receive
/this->answer && asked[args[1]->cs_cid] > 1/
{
	this->began = asked[args[1]->cs_cid];
	@answer_us[args[3]->tcps_raddr] =
	    avg(args[0]->pkt_ts > this->began ? (args[0]->pkt_ts - this->began) / 1000 : 0);
	asked[args[1]->cs_cid] = 1;
}

netobs*:::tcp-receive
/this->answer/
{
	received[args[1]->cs_cid] = args[0]->pkt_ts;
}

netobs*:::tcp-state-change
{
	this->ended = args[3]->tcps_state == NETOBS_TCP_TIME_WAIT || args[3]->tcps_state == NETOBS_TCP_CLOSED;
}

netobs*:::tcp-state-change
/this->ended && spent[args[1]->cs_cid] > 1000/
{
	@bytes_per_second[args[3]->tcps_raddr] =
	    avg((bytes[args[1]->cs_cid] - 1) * 1000000 / ((spent[args[1]->cs_cid] - 1) / 1000));
}

netobs*:::tcp-state-change
/this->ended && requested[args[1]->cs_cid] > 1/
{
	requested[args[1]->cs_cid] = 1;
}

netobs*:::tcp-state-change
/this->ended && asked[args[1]->cs_cid] > 1/
{
	asked[args[1]->cs_cid] = 1;
}

netobs*:::tcp-state-change
/this->ended && received[args[1]->cs_cid] > 1/
{
	received[args[1]->cs_cid] = 1;
}

netobs*:::tcp-state-change
/this->ended && bytes[args[1]->cs_cid] > 1/
{
	bytes[args[1]->cs_cid] = 1;
	spent[args[1]->cs_cid] = 1;
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
	printa("@answer_us[%s]: %@d\n", @answer_us);
	printa("@bytes_per_second[%s]: %@d\n", @bytes_per_second);
	printa("@connect_us[%s]: %@d\n", @connect_us);
}
