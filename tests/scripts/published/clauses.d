/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole clauses in the manner of the documentation. */
tcp:::accept-established
{
	@accepted[args[3]->tcps_raddr, args[3]->tcps_lport] = count();
}

tcp:::send
{
	@sent[args[2]->ip_daddr] = sum(args[2]->ip_plength - args[4]->tcp_offset);
}

tcp:::receive
/args[4]->tcp_flags & TH_SYN/
{
	@syn[args[2]->ip_saddr] = count();
}

tcp:::state-change
{
	@changes[tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]] = count();
}

ip:::send
/arg4 != 0/
{
	@protocols[args[2]->ip_saddr, args[4]->ipv4_protostr] = count();
}

udp:::receive
{
	@ports[args[4]->udp_dport] = sum(args[4]->udp_length);
}

tcp:::connect-refused
{
	@refused[args[2]->ip_saddr, args[4]->tcp_sport] = count();
}
