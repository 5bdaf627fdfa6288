/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams. */
#pragma D option quiet

udp:::send
{
	printf("%15s:%-5d -> %15s:%-5d %i\n", args[2]->ip_saddr, args[4]->udp_sport, args[2]->ip_daddr,
	    args[4]->udp_dport, args[4]->udp_length);
}

udp:::receive
{
	printf("%15s:%-5d <- %15s:%-5d %i\n", args[2]->ip_daddr, args[4]->udp_dport, args[2]->ip_saddr,
	    args[4]->udp_sport, args[4]->udp_length);
}
