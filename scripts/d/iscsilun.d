/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iscsilun - which logical unit and which target is busiest?
 *
 * Counts SCSI commands, and sums the bytes that they request to transfer, by target and logical unit.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::iscsi-scsi-command
{
	@commands[args[1]->ii_target, args[1]->ii_lun] = count();
	@bytes[args[1]->ii_target, args[1]->ii_lun] = sum(args[1]->ii_xferlen);
}

netobs*:::iscsi-scsi-command
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@bytes[%s, %d]: %@d\n", @bytes);
	printa("@commands[%s, %d]: %@d\n", @commands);
}
