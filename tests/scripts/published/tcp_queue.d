/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that are not acknowledged, and the window that is left for them. */
#pragma D option quiet

tcp:::send
/args[3] != NULL && args[3]->tcps_state == TCP_STATE_ESTABLISHED/
{
	this->flight = args[3]->tcps_snxt - args[3]->tcps_suna;
	@flight[args[3]->tcps_raddr] = max(this->flight);
	@window[args[3]->tcps_raddr] = min(args[3]->tcps_swnd);
	if (this->flight > 1000) {
		large++;
	} else {
		small++;
	}
}

END
{
	printf("large %d small %d %#x\n", large, small, 255);
}
