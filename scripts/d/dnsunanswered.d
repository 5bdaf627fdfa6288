/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dnsunanswered - which names does DNS not answer?
 *
 * Counts the queries without a response within --app-timeout by name; a query and its retries count once.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::dns-timeout
{
	@unanswered[args[1]->dns_qname] = count();
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@unanswered[%s]: %@d\n", @unanswered);
}
