/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlsalerts - which TLS handshakes fail, and why?
 *
 * Counts the alerts by the remote address, the sender of the alert and its description.  A handshake may succeed after
 * a warning, such as unrecognized_name.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tls-alert
{
	@alerts[args[0]->ci_remote, args[1]->tls_from, args[1]->tls_alertstr] = count();
}

netobs*:::tls-alert
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@alerts[%s, %s, %s]: %@d\n", @alerts);
}
