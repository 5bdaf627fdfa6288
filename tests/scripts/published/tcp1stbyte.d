/* SPDX-License-Identifier: BSD-2-Clause */
/* Time from the connection to its first byte. */
tcp:::connect-established
{
	start[args[1]->cs_cid] = timestamp;
}

tcp:::receive
/start[args[1]->cs_cid] && (args[2]->ip_plength - args[4]->tcp_offset) > 0/
{
	@ns[args[2]->ip_saddr, args[4]->tcp_sport] = sum(timestamp - start[args[1]->cs_cid]);
	start[args[1]->cs_cid] = 0;
}
