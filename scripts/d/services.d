/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * services - which services are busy?
 *
 * Sums the bytes received by the port of the service, for TCP and UDP, in both directions between client and service;
 * the busiest last.  The service is at the end that did not open the connection; if that is not known, and for UDP, at
 * the lower port.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::tcp-receive
/args[4]->tcp_payload/
{
	this->lower = args[4]->tcp_sport < args[4]->tcp_dport ? args[4]->tcp_sport : args[4]->tcp_dport;
	this->active = -1;
}

netobs*:::tcp-receive
/args[4]->tcp_payload && arg3 != 0/
{
	this->active = args[3]->tcps_active;
}

netobs*:::tcp-receive
/args[4]->tcp_payload/
{
	this->port = this->active == 1 ? args[4]->tcp_sport : this->active == 0 ? args[4]->tcp_dport : this->lower;
	@tcp_bytes[this->port] = sum(args[4]->tcp_payload);
}

netobs*:::udp-receive
{
	this->lower = args[4]->udp_sport < args[4]->udp_dport ? args[4]->udp_sport : args[4]->udp_dport;
	@udp_bytes[this->lower] = sum(args[4]->udp_length - 8); /* without the header */
}

netobs*:::tcp-receive,
netobs*:::udp-receive
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@tcp_bytes[%d]: %@d\n", @tcp_bytes);
	printa("@udp_bytes[%d]: %@d\n", @udp_bytes);
}
