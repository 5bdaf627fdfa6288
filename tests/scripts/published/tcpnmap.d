/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that scanners send. */
#pragma D option quiet

tcp:::accept-refused
{
	@scans["refused", args[2]->ip_daddr] = count();
}

tcp:::receive
/args[4]->tcp_flags == 0/
{
	@scans["null scan", args[2]->ip_saddr] = count();
}

tcp:::receive
/args[4]->tcp_flags == (TH_URG | TH_PUSH | TH_FIN)/
{
	@scans["xmas scan", args[2]->ip_saddr] = count();
}

dtrace:::END
{
	printf("%-10s %s\n", "SCAN", "FROM");
	printa("%-10s %-20s %@d\n", @scans);
}
