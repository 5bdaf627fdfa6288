/* SPDX-License-Identifier: BSD-2-Clause */
/* IP packets, one line each. */
#pragma D option quiet
#pragma D option switchrate=10hz

dtrace:::BEGIN
{
	printf("%20s %-3s %20s %8s\n", "SOURCE", "", "DESTINATION", "BYTES");
}

ip:::send
{
	printf("%20s %-3s %20s %8d\n", args[2]->ip_saddr, "->", args[2]->ip_daddr, args[2]->ip_plength);
}

ip:::receive
{
	printf("%20s %-3s %20s %8d\n", args[2]->ip_daddr, "<-", args[2]->ip_saddr, args[2]->ip_plength);
}
