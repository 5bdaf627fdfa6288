/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smbfiles - which SMB shares and files are read and written?
 *
 * Bytes by share and operation, and bytes by file.  A file that was opened before the capture has an empty path.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::smb-op-done
/(args[1]->soi_op == 8 || args[1]->soi_op == 9) && args[1]->soi_count > 0/ /* read, write */
{
	@shares[args[1]->soi_share, args[1]->soi_opstr] = sum(args[1]->soi_count);
	@files[args[1]->soi_curpath] = sum(args[1]->soi_count);
}

netobs*:::smb-op-done
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@shares[%s, %s]: %@d\n", @shares);
	printa("@files[%s]: %@d\n", @files);
}
