/* SPDX-License-Identifier: BSD-2-Clause */
/* Time with a closed receive window. */
#pragma D option quiet

tcp:::send
/args[4]->tcp_window == 0 && !(args[4]->tcp_flags & (TH_RST | TH_SYN))/
{
	closed[args[1]->cs_cid] = timestamp;
}

tcp:::send
/args[4]->tcp_window != 0 && closed[args[1]->cs_cid]/
{
	@ns[args[2]->ip_saddr] = sum(timestamp - closed[args[1]->cs_cid]);
	closed[args[1]->cs_cid] = 0;
}
