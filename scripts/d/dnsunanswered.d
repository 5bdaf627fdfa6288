/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dnsunanswered - which names does DNS not answer?
 *
 * Counts the queries without a response within --app-timeout, 5 seconds by default, by name.  Retries from the same
 * port with the same id count once.  A query in the last seconds of a capture does not count; for those, give a shorter
 * time: -o --app-timeout=1.
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
