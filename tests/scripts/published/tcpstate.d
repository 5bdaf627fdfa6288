/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of state: time since the last one of the connection. */
#pragma D option quiet

tcp:::state-change
{
	this->since = last[args[1]->cs_cid] ? timestamp - last[args[1]->cs_cid] : 0;
	printf("%d %8d %-18s -> %s\n", args[1]->cs_cid, this->since / 1000,
	    tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]);
	last[args[1]->cs_cid] = timestamp;
	@entered[tcp_state_string[(int)args[3]->tcps_state]] = count();
}

tcp:::state-change
/args[3]->tcps_state == TCPS_CLOSED || args[3]->tcps_state == TCP_STATE_TIME_WAIT/
{
	last[args[1]->cs_cid] = 0;
	ended++;
}

END
{
	printf("ended %d\n", ended);
}
