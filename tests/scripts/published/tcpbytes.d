/* SPDX-License-Identifier: BSD-2-Clause */
/* Payload bytes by address and port. */
#pragma D option quiet

inline int MINIMUM = 5;

tcp:::send
/args[2]->ip_plength - args[4]->tcp_offset > MINIMUM/
{
	@bytes[args[2]->ip_daddr, args[4]->tcp_dport] = sum(args[2]->ip_plength - args[4]->tcp_offset);
	@largest = max(args[2]->ip_plength - args[4]->tcp_offset);
	@mean = avg(args[2]->ip_plength - args[4]->tcp_offset);
}
