/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlssni - which server names do TLS clients ask for?
 *
 * Counts the ClientHellos by server name; the empty name is that of clients that do not send one.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tls-client-hello
{
	@hellos[args[1]->tls_sni] = count();
}

netobs*:::tls-client-hello
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@hellos[%s]: %@d\n", @hellos);
}
