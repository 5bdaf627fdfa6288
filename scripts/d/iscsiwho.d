/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iscsiwho - who uses which iSCSI target?
 *
 * Counts SCSI commands by the remote address and the target's name.  The remote address is the initiator's, unless only
 * the initiator is local: then it is the target's.  The initiator's own name is in ii_initiator.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::iscsi-scsi-command
{
	@commands[args[0]->ci_remote, args[1]->ii_target] = count();
}

netobs*:::iscsi-scsi-command
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@commands[%s, %s]: %@d\n", @commands);
}
