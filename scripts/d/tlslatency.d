/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tlslatency - how long do TLS handshakes take, by server?
 *
 * Microseconds from the ClientHello to the end of the handshake by the address and port of the server: of the two ends,
 * the one with the lower port.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tls-established
/args[1]->tls_handshake_us >= 0 && args[0]->ci_lport <= args[0]->ci_rport/
{
	@us[args[0]->ci_local, args[0]->ci_lport] = quantize(args[1]->tls_handshake_us);
}

netobs*:::tls-established
/args[1]->tls_handshake_us >= 0 && args[0]->ci_lport > args[0]->ci_rport/
{
	@us[args[0]->ci_remote, args[0]->ci_rport] = quantize(args[1]->tls_handshake_us);
}

netobs*:::tls-established
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@us[%s, %d]:%@d\n", @us);
}
