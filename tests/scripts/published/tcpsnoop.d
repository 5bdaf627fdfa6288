/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments with their flags: the backspace removes the bar after the last one. */
#pragma D option quiet

tcp:::send
{
	this->bytes = args[2]->ip_plength - args[4]->tcp_offset;
	printf("%15s:%-5d -> %15s:%-5d %5d (", args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr,
	    args[4]->tcp_dport, this->bytes);
}

tcp:::receive
{
	this->bytes = args[2]->ip_plength - args[4]->tcp_offset;
	printf("%15s:%-5d <- %15s:%-5d %5d (", args[2]->ip_daddr, args[4]->tcp_dport, args[2]->ip_saddr,
	    args[4]->tcp_sport, this->bytes);
}

tcp:::send,
tcp:::receive
{
	printf("%s", args[4]->tcp_flags & TH_SYN ? "S|" : "");
	printf("%s", args[4]->tcp_flags & TH_ACK ? "A|" : "");
	printf("%s", args[4]->tcp_flags & TH_FIN ? "F|" : "");
	printf("%s", args[4]->tcp_flags & TH_RST ? "R|" : "");
	printf("%s", args[4]->tcp_flags & TH_PUSH ? "P|" : "");
	printf("%s", args[4]->tcp_flags == 0 ? "none|" : "");
	printf("\b)\n");
}
