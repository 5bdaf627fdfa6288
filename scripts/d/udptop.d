/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udptop - how much does each process transfer over each UDP stream?
 *
 * The processes and streams by application bytes.  Live: the twenty busiest of every five seconds.  Of a capture:
 * no intervals, but one total of its whole duration, of all of them, the busiest last.  The process is known only when
 * this host itself is observed.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];
int live; /* a capture has no processes and no clock */

netobs*:::socket-send
/args[3]->so_protocol == 17/
{
	@sent[args[3]->so_pid, args[3]->so_execname, args[3]->so_laddr, args[3]->so_lport, args[3]->so_raddr,
	    args[3]->so_rport] = sum(args[3]->so_bytes);
}

netobs*:::socket-receive
/args[3]->so_protocol == 17/
{
	@received[args[3]->so_pid, args[3]->so_execname, args[3]->so_laddr, args[3]->so_lport, args[3]->so_raddr,
	    args[3]->so_rport] = sum(args[3]->so_bytes);
}

tick-5s
/live/
{
	trunc(@sent, 20);
	trunc(@received, 20);
	printf("%Y\n", walltimestamp);
	printa("@sent[%d, %s, %s, %d, %s, %d]: %@d\n", @sent);
	printa("@received[%d, %s, %s, %d, %s, %d]: %@d\n", @received);
	trunc(@sent);
	trunc(@received);
}

netobs*:::socket-send,
netobs*:::socket-receive
{
	live = args[1]->cs_zoneid != -1;
	missed += last[probename] ? args[0]->pkt_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->pkt_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@received[%d, %s, %s, %d, %s, %d]: %@d\n", @received);
	printa("@sent[%d, %s, %s, %d, %s, %d]: %@d\n", @sent);
}
