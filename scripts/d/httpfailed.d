/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * httpfailed - which HTTP requests fail?
 *
 * Counts requests that are answered with a status of 400 or more, or not at all (0: the connection ended without a
 * response), by the remote address, and by the status and the target.  The remote address is the client's, unless only
 * the client is local: then it is the server's.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::http-request-done
/args[1]->rq_status == 0 || args[1]->rq_status >= 400/
{
	@clients[args[0]->ci_remote] = count();
	@failed[args[1]->rq_status, args[1]->rq_uri] = count();
}

netobs*:::http-request-done
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@clients[%s]: %@d\n", @clients);
	printa("@failed[%d, %s]: %@d\n", @failed);
}
