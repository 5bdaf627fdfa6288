/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline PORT - one connection from its SYN to its end
 *
 * Segments, state changes and retransmissions of the connections with PORT at one end; the client's port selects one
 * connection.  TIME is packet time since the first line, DELTA since the line before, in microseconds.  SEQ and ACK
 * count from the SYN of their sender, or are absolute if that was not captured; WINDOW is in bytes, scaled.
 */
#pragma D option quiet
#pragma D option defaultargs

uint64_t start;

netobs*:::tcp-send,
netobs*:::tcp-receive
/start == 0 && (args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1)/
{
	start = args[0]->pkt_ts;
}

netobs*:::tcp-state-change
/start == 0 && (args[3]->tcps_lport == $1 || args[3]->tcps_rport == $1)/
{
	start = args[1]->cs_ts;
}

netobs*:::tcp-send
/args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1/
{
	printf("%10d  %s:%d -> %s:%d %s seq %u ack %u win %d length %d\n", (args[0]->pkt_ts - start) / 1000,
	    args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport, args[4]->tcp_flagstr,
	    args[4]->tcp_seq, args[4]->tcp_ack, args[4]->tcp_window, args[4]->tcp_payload);
}

netobs*:::tcp-receive
/args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1/
{
	printf("%10d  %s:%d <- %s:%d %s seq %u ack %u win %d length %d\n", (args[0]->pkt_ts - start) / 1000,
	    args[2]->ip_daddr, args[4]->tcp_dport, args[2]->ip_saddr, args[4]->tcp_sport, args[4]->tcp_flagstr,
	    args[4]->tcp_seq, args[4]->tcp_ack, args[4]->tcp_window, args[4]->tcp_payload);
}

netobs*:::tcp-retransmit
/args[4]->tcp_sport == $1 || args[4]->tcp_dport == $1/
{
	printf("%10d  %s:%d retransmits (%s), %d us after the previous transmission\n",
	    (args[0]->pkt_ts - start) / 1000, args[2]->ip_saddr, args[4]->tcp_sport,
	    args[5]->tcpr_kindstr, args[5]->tcpr_elapsed_us);
}

netobs*:::tcp-state-change
/args[3]->tcps_lport == $1 || args[3]->tcps_rport == $1/
{
	printf("%10d  %s:%d %s -> %s\n", (args[1]->cs_ts - start) / 1000, args[3]->tcps_laddr, args[3]->tcps_lport,
	    args[5]->tcps_statestr, args[3]->tcps_statestr);
}
