/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * httplatency - how long do HTTP requests take, by status and target?
 *
 * Microseconds of packet time from the first byte of the request to the last byte of its response, as seen where the
 * capture was made.  The target is the path with its query.  A request without a response, or whose end was not
 * captured, is left out.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::http-request-done
/args[1]->rq_total_us >= 0/
{
	@us[args[1]->rq_status, args[1]->rq_uri] = quantize(args[1]->rq_total_us);
}

netobs*:::http-request-done
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@us[%d, %s]:%@d\n", @us);
}
