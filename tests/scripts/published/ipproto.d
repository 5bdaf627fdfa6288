/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets by protocol, of either version of IP. */
#pragma D option quiet

ip:::send,
ip:::receive
{
	this->protocol = args[4] != NULL ? args[4]->ipv4_protostr : args[5]->ipv6_nextstr;
	@packets[probename, args[2]->ip_saddr, this->protocol] = count();
}

END
{
	printa("%-10s %-20s %-8s %@8d\n", @packets);
}
