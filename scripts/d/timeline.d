/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline PORT - one connection from its SYN to its end
 *
 * Segments, state changes and retransmissions of the connections with PORT at one end; the client's port selects one
 * connection.  TIME is packet time since the first line, DELTA since the line before, in microseconds.  SEQ and ACK
 * count from the SYN of their sender, or are absolute if that was not captured or no endpoint sends the segment, as
 * when a connection is refused; WINDOW is in bytes, scaled.
 */
#pragma D option quiet
#pragma D option defaultargs

uint64_t start, last, packet;
int begun;

BEGIN
{
	printf("%10s %10s  %22s %5s    %22s %5s %10s %10s %8s %6s %s\n", "TIME(us)", "DELTA(us)", "SOURCE", "PORT",
	    "DEST", "PORT", "SEQ", "ACK", "WINDOW", "BYTES", "FLAGS");
}

netobs*:::tcp-send,
netobs*:::tcp-receive,
netobs*:::tcp-retransmit
/!begun && (args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1)/
{
	begun = 1;
	start = args[0]->pkt_ts;
	last = start;
}

netobs*:::tcp-state-change
/!begun && (args[3]->tcps_lport == $1 || args[3]->tcps_rport == $1)/
{
	begun = 1;
	start = args[1]->cs_ts;
	last = start;
}

netobs*:::tcp-send
/args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1/
{
	this->iss = arg3 != 0 ? args[3]->tcps_iss : 0;
	this->irs = arg3 != 0 ? args[3]->tcps_irs : 0;
	this->shift = arg3 != 0 && (args[4]->tcp_flags & NETOBS_TH_SYN) == 0 &&
	    args[3]->tcps_rcv_ws > 0 ? args[3]->tcps_rcv_ws : 0;
	printf("%10d %10d  %22s %5d -> %22s %5d %10u %10u %8d %6d %s\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0,
	    args[0]->pkt_ts > last ? (args[0]->pkt_ts - last) / 1000 : 0,
	    args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport,
	    (args[4]->tcp_seq - this->iss) & 0xffffffff,
	    args[4]->tcp_flags & NETOBS_TH_ACK ? (args[4]->tcp_ack - this->irs) & 0xffffffff : 0,
	    args[4]->tcp_window << this->shift, args[4]->tcp_payload, args[4]->tcp_flagstr);
	last = args[0]->pkt_ts;
	packet = args[0]->pkt_addr;
}

/* A segment that a local endpoint has sent is printed already. */
netobs*:::tcp-receive
/(args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1) && packet != args[0]->pkt_addr/
{
	/* tcps_irs is not known before a SYN is processed. */
	this->iss = args[4]->tcp_flags & NETOBS_TH_SYN ? args[4]->tcp_seq : arg3 != 0 ? args[3]->tcps_irs : 0;
	this->irs = arg3 != 0 ? args[3]->tcps_iss : 0;
	this->shift = arg3 != 0 && (args[4]->tcp_flags & NETOBS_TH_SYN) == 0 &&
	    args[3]->tcps_snd_ws > 0 ? args[3]->tcps_snd_ws : 0;
	printf("%10d %10d  %22s %5d -> %22s %5d %10u %10u %8d %6d %s\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0,
	    args[0]->pkt_ts > last ? (args[0]->pkt_ts - last) / 1000 : 0,
	    args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport,
	    (args[4]->tcp_seq - this->iss) & 0xffffffff,
	    args[4]->tcp_flags & NETOBS_TH_ACK ? (args[4]->tcp_ack - this->irs) & 0xffffffff : 0,
	    args[4]->tcp_window << this->shift, args[4]->tcp_payload, args[4]->tcp_flagstr);
	last = args[0]->pkt_ts;
}

netobs*:::tcp-retransmit
/args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1/
{
	printf("%10d %10d  %22s %5d    retransmits (%s), %d us after the previous transmission\n",
	    args[0]->pkt_ts > start ? (args[0]->pkt_ts - start) / 1000 : 0,
	    args[0]->pkt_ts > last ? (args[0]->pkt_ts - last) / 1000 : 0, args[2]->ip_saddr, args[4]->tcp_sport,
	    args[5]->tcpr_kindstr, args[5]->tcpr_elapsed_us);
	last = args[0]->pkt_ts;
}

netobs*:::tcp-state-change
/args[3]->tcps_lport == $1 || args[3]->tcps_rport == $1/
{
	printf("%10d %10d  %22s %5d    %s -> %s\n", args[1]->cs_ts > start ? (args[1]->cs_ts - start) / 1000 : 0,
	    args[1]->cs_ts > last ? (args[1]->cs_ts - last) / 1000 : 0, args[3]->tcps_laddr, args[3]->tcps_lport,
	    args[5]->tcps_statestr, args[3]->tcps_statestr);
	last = args[1]->cs_ts;
}

END
/!begun/
{
	printf("no segment has port %d\n", $1);
}
