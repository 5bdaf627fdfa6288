/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmperrors - which connections do ICMP errors concern?
 *
 * Counts received ICMP errors by type, code and the quoted packet: protocol, source and port, destination and port.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::icmp-receive
/args[4]->icmp_error_ip_hdr != 0 || args[4]->icmp_error_ip6_hdr != 0/
{
	this->from = args[4]->icmp_error_saddr; /* DTrace has room for four strings at a time */
	@errors[args[4]->icmp_typestr, args[4]->icmp_codestr, args[4]->icmp_error_protocol, this->from,
	    args[4]->icmp_error_sport, args[4]->icmp_error_daddr, args[4]->icmp_error_dport] = count();
}

netobs*:::icmp-receive
{
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@errors[%s, %s, %d, %s, %d, %s, %d]: %@d\n", @errors);
}
