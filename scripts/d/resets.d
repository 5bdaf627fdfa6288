/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resets - which established connections are reset, by which end, and after how many bytes?
 *
 * L is the end that sent the RST if that is local, else the one that received it; BY says which.  STATE is that of L
 * before the reset, SENT and RECEIVED are the bytes of L.  TIME is packet time since the first reset, in milliseconds.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

/* No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t start, at;
uint16_t lport, rport;
uint64_t received[uint64_t], closed[uint64_t]; /* 1: yes */
string state[uint64_t];
int printed[string, int, string, int]; /* 1: yes */

BEGIN
{
	printf("%10s %6s %6s %-15s %22s %5s %22s %5s %-6s %-17s %9s %9s\n", "TIME(ms)", "CID", "PID", "COMMAND",
	    "LADDR", "LPORT", "RADDR", "RPORT", "BY", "STATE", "SENT", "RECEIVED");
}

/* Of the end that sends a RST the state changes before the segment is sent, of the other one after it was received. */
netobs*:::tcp-receive
/arg1 != 0 && (args[4]->tcp_flags & NETOBS_TH_RST)/
{
	received[args[1]->cs_cid] = 1;
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED/
{
	this->established = args[5]->tcps_state == NETOBS_TCP_ESTABLISHED ||
	    args[5]->tcps_state == NETOBS_TCP_FIN_WAIT_1 || args[5]->tcps_state == NETOBS_TCP_FIN_WAIT_2 ||
	    args[5]->tcps_state == NETOBS_TCP_CLOSE_WAIT || args[5]->tcps_state == NETOBS_TCP_CLOSING;
	this->printed =
	    printed[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport] == 1 ||
	    (at == args[1]->cs_ts && lport == args[3]->tcps_rport && rport == args[3]->tcps_lport);
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED && this->established && received[args[1]->cs_cid] == 1 && !this->printed/
{
	start = start == 0 ? args[1]->cs_ts : start;
	printf("%10d %6d %6d %-15s %22s %5d %22s %5d %-6s %-17s %9d %9d\n",
	    args[1]->cs_ts > start ? (args[1]->cs_ts - start) / 1000000 : 0, args[1]->cs_cid, args[1]->cs_pid,
	    args[1]->cs_comm, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport,
	    "remote", args[5]->tcps_statestr, args[3]->tcps_snd_bytes, args[3]->tcps_rcv_bytes);
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED && this->established && received[args[1]->cs_cid] != 1/
{
	closed[args[1]->cs_cid] = 1;
	state[args[1]->cs_cid] = args[5]->tcps_statestr;
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED && received[args[1]->cs_cid] == 1/
{
	received[args[1]->cs_cid] = 2;
}

netobs*:::tcp-state-change
/args[3]->tcps_state == NETOBS_TCP_CLOSED && this->printed/
{
	printed[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_laddr, args[3]->tcps_lport] = 2;
}

/* The other end may be observed, too: in a capture, or because it is on this host. */
netobs*:::tcp-send
/arg1 != 0 && (args[4]->tcp_flags & NETOBS_TH_RST) && closed[args[1]->cs_cid] == 1 &&
    (args[1]->cs_zoneid == -1 || args[3]->tcps_local == 1)/
{
	printed[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport] = 1;
}

netobs*:::tcp-send
/arg1 != 0 && (args[4]->tcp_flags & NETOBS_TH_RST) && closed[args[1]->cs_cid] == 1/
{
	start = start == 0 ? args[1]->cs_ts : start;
	printf("%10d %6d %6d %-15s %22s %5d %22s %5d %-6s %-17s %9d %9d\n",
	    args[1]->cs_ts > start ? (args[1]->cs_ts - start) / 1000000 : 0, args[1]->cs_cid, args[1]->cs_pid,
	    args[1]->cs_comm, args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr, args[3]->tcps_rport,
	    "local", state[args[1]->cs_cid], args[3]->tcps_snd_bytes, args[3]->tcps_rcv_bytes);
	at = args[1]->cs_ts;
	lport = args[3]->tcps_lport;
	rport = args[3]->tcps_rport;
	closed[args[1]->cs_cid] = 2;
}
