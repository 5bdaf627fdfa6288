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

static enum probe_id
dns_find_probe(const struct dns_message *message)
{
	if (message->timed_out)
		return PROBE_DNS_TIMEOUT;
	return (message->flags & DNS_RESPONSE) != 0 ? PROBE_DNS_RESPONSE : PROBE_DNS_QUERY;
}

void
dns_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	enum probe_id probe = dns_find_probe(message);
	struct dnsinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_dnsinfo(&info, message);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}
