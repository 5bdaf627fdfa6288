/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iscsilatency - how long do SCSI commands take, by operation?
 *
 * Microseconds of packet time from the command to its status, which comes in a SCSI response or with the last data, as
 * seen where the capture was made.
 */
#pragma D option quiet
#pragma D option dynvarsize=32m

uint64_t missed;
uint64_t last[string];
/* 1: no value.  No element is set to 0: DTrace before 2.0.4 may confuse other elements afterwards. */
uint64_t began[unsigned long, int];
string operation[unsigned long, int];

netobs*:::iscsi-scsi-command
{
	began[args[0]->ci_cid, args[1]->ii_itt] = args[0]->ci_ts;
	operation[args[0]->ci_cid, args[1]->ii_itt] = args[2]->ic_opstr;
}

netobs*:::iscsi-scsi-response,
netobs*:::iscsi-data-send
/(args[1]->ii_opcode == 0x21 || args[1]->ii_flags & NETOBS_ISCSI_STATUS) &&
    began[args[0]->ci_cid, args[1]->ii_itt] > 1/
{
	this->began = began[args[0]->ci_cid, args[1]->ii_itt];
	@us[operation[args[0]->ci_cid, args[1]->ii_itt]] =
	    quantize(args[0]->ci_ts > this->began ? (args[0]->ci_ts - this->began) / 1000 : 0);
	began[args[0]->ci_cid, args[1]->ii_itt] = 1;
}

netobs*:::iscsi-scsi-command,
netobs*:::iscsi-scsi-response,
netobs*:::iscsi-data-send
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@us[%s]:%@d\n", @us);
}
