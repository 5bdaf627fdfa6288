/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_fire.h"

#include "apps/dns/dns_args.h"
#include "probes/site/semaphores.h"

bool
dns_probes_enabled(void)
{
	bool enabled = false;

	/* The dns probes are consecutive in probes/netobs.d. */
	for (unsigned id = PROBE_DNS_QUERY; id <= PROBE_DNS_TIMEOUT; id++)
		enabled |= semaphores_enabled(id);
	return enabled;
}

void
dns_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	struct dnsinfo info;

	if (!semaphores_enabled(PROBE_DNS_QUERY))
		return;
	args_dnsinfo(&info, message);
	emit_app(emitter, PROBE_DNS_QUERY, flow, endpoint, &info, NULL);
}
