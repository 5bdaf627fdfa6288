/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP messages and the host that sends them. */
#pragma D option quiet

self int seen;

icmp:::receive
{
	self->seen = self->seen + 1;
	printf("%d %s type %d code %d\n", self->seen, args[2]->ip_saddr, args[4]->icmp_type, args[4]->icmp_code);
}
