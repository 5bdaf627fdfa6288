/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of the process that owns them; the argument is a port. */
#pragma D option quiet
#pragma D option defaultargs

tcp:::connect-request
/$1 == 0 || args[4]->tcp_dport == $1/
{
	@[execname, pid, args[2]->ip_daddr, args[4]->tcp_dport] = count();
}
