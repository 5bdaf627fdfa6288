/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dnsslow - how long do answers of DNS take, by name?
 *
 * Microseconds from the first copy of a query to its response, as seen where the capture was made.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::dns-response
/args[1]->dns_latency_us >= 0/
{
	@us[args[1]->dns_qname] = quantize(args[1]->dns_latency_us);
}

netobs*:::dns-response
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@us[%s]:%@d\n", @us);
}
