/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpio - every TCP segment: bytes and flags
 *
 * -> is sent, <- received; BYTES is the payload.
 */
#pragma D option quiet

BEGIN
{
	printf("%22s %5s    %22s %5s %6s %s\n", "LADDR", "LPORT", "RADDR", "RPORT", "BYTES", "FLAGS");
}

netobs*:::tcp-send
{
	printf("%22s %5d -> %22s %5d %6d %s\n", args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr,
	    args[4]->tcp_dport, args[4]->tcp_payload, args[4]->tcp_flagstr);
}

netobs*:::tcp-receive
{
	printf("%22s %5d <- %22s %5d %6d %s\n", args[2]->ip_daddr, args[4]->tcp_dport, args[2]->ip_saddr,
	    args[4]->tcp_sport, args[4]->tcp_payload, args[4]->tcp_flagstr);
}
