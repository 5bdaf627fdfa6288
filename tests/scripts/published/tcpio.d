/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments with data, the direction chosen in the argument. */
tcp:::send,
tcp:::receive
/args[2]->ip_plength > args[4]->tcp_offset/
{
	printf("%s %s:%d %s", probename == "send" ? "out" : "in", args[2]->ip_saddr, args[4]->tcp_sport,
	    (args[4]->tcp_flags & TH_PUSH) != 0 ? "push" : "more");
}
