/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dnsfailed - which names does DNS fail to resolve?
 *
 * Counts the responses with another code than NOERROR by name: those of NXDOMAIN, of SERVFAIL, of REFUSED and others.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::dns-response
/args[1]->dns_rcode == 3/
{
	@nxdomain[args[1]->dns_qname] = count();
}

netobs*:::dns-response
/args[1]->dns_rcode == 2/
{
	@servfail[args[1]->dns_qname] = count();
}

netobs*:::dns-response
/args[1]->dns_rcode == 5/
{
	@refused[args[1]->dns_qname] = count();
}

netobs*:::dns-response
/args[1]->dns_rcode && args[1]->dns_rcode != 2 && args[1]->dns_rcode != 3 && args[1]->dns_rcode != 5/
{
	@others[args[1]->dns_qname] = count();
}

netobs*:::dns-response
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@nxdomain[%s]: %@d\n", @nxdomain);
	printa("@others[%s]: %@d\n", @others);
	printa("@refused[%s]: %@d\n", @refused);
	printa("@servfail[%s]: %@d\n", @servfail);
}
