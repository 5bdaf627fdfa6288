/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iscsibytes - how many bytes are read from iSCSI targets, and written to them?
 *
 * Sums the data segments by the remote address: @read of Data-In, @written of Data-Out and of commands that contain
 * their data.  The remote address is the initiator's, unless only the initiator is local: then it is the target's.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::iscsi-data-send
{
	@read[args[0]->ci_remote] = sum(args[1]->ii_datalen);
}

netobs*:::iscsi-data-receive,
netobs*:::iscsi-scsi-command
/args[1]->ii_datalen/
{
	@written[args[0]->ci_remote] = sum(args[1]->ii_datalen);
}

netobs*:::iscsi-data-send,
netobs*:::iscsi-data-receive,
netobs*:::iscsi-scsi-command
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@read[%s]: %@d\n", @read);
	printa("@written[%s]: %@d\n", @written);
}
