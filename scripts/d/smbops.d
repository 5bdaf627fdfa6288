/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smbops - how long do SMB operations take?
 *
 * Microseconds of packet time from a request to its final response, as seen where the capture was made, by operation.
 * Operations of encrypted sessions are not known.
 */
#pragma D option quiet

uint64_t missed;
uint64_t last[string];

netobs*:::smb-op-done
/args[1]->soi_latency_us >= 0/
{
	@us[args[1]->soi_opstr] = quantize(args[1]->soi_latency_us);
}

netobs*:::smb-op-done
{
	missed += last[probename] ? args[0]->ci_seq - last[probename] - 1 : 0;
	last[probename] = args[0]->ci_seq;
}

END
{
	printf("missed %d firings\n", missed);
	printa("@us[%s]:%@d\n", @us);
}
