/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * webconn [PORT] - who is connecting to my web server?
 *
 * Counts the connections that were accepted on PORT (80) by the address of the client.
 */
#pragma D option quiet
#pragma D option defaultargs

uint64_t missed;
uint64_t last[string];

BEGIN
{
	port = $1 ? $1 : 80;
}

netobs*:::tcp-accept-established
/args[3]->tcps_lport == port/
{
	@connections[args[3]->tcps_raddr] = count();
}

netobs*:::tcp-accept-established
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@connections[%s]: %@d\n", @connections);
}
