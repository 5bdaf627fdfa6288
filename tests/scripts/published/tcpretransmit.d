/* SPDX-License-Identifier: BSD-2-Clause */
/* Retransmissions, with a variable that one clause hands to the next. */
#pragma D option quiet

tcp:::retransmit
{
	this->text = args[5]->tcpr_kind == 1 ? "fast" : args[5]->tcpr_kind == 2 ? "timer" : "other";
}

tcp:::retransmit
/this->text != "fast"/
{
	printf("%-6s %s:%d\n", this->text, args[2]->ip_daddr, args[4]->tcp_dport);
}
