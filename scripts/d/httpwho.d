/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * httpwho - who makes HTTP requests, and with what result?
 *
 * Counts requests by the remote address and the status of the response; 0: the connection ended without one.  The
 * remote address is the client's, unless only the client is local: then it is the server's.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::http-request-done
{
	@requests[args[0]->ci_remote, args[1]->rq_status] = count();
}

netobs*:::http-request-done
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@requests[%s, %d]: %@d\n", @requests);
}
