/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smbfailed - which SMB operations fail?
 *
 * Counts the operations that are answered with an error, by the remote address, the operation and the status.  A
 * session setup that needs another message is not an error.  The remote address is the client's, unless only the client
 * is local: then it is the server's.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::smb-op-done
/args[1]->soi_status >= 0xc0000000 && args[1]->soi_status != 0xc0000016/
{
	@failed[args[0]->ci_remote, args[1]->soi_opstr, args[1]->soi_statusstr] = count();
}

netobs*:::smb-op-done
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@failed[%s, %s, %s]: %@d\n", @failed);
}
