/* SPDX-License-Identifier: BSD-2-Clause */
/* The two ports with the most connections, and with the date of each. */
#pragma D option quiet

tcp:::accept-established
{
	printf("%Y %-15s %5d\n", walltimestamp, args[2]->ip_saddr, args[4]->tcp_dport);
	@accepted[args[3]->tcps_lport] = count();
	@refused[args[3]->tcps_lport] = count();
}

tcp:::accept-refused
{
	@refused[args[4]->tcp_sport] = count();
}

END
{
	trunc(@refused, 1);
	printa("%5d %@8d\n", @refused);
	normalize(@accepted, 2);
}
