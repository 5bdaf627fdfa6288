/* SPDX-License-Identifier: BSD-2-Clause */
/* Time to connect. */
tcp:::connect-request
{
	start[args[1]->cs_cid] = timestamp;
}

tcp:::connect-established
/start[args[1]->cs_cid]/
{
	this->delta = (timestamp - start[args[1]->cs_cid]) / 1000;
	@latency["us", args[2]->ip_saddr] = sum(this->delta);
	start[args[1]->cs_cid] = 0;
}
