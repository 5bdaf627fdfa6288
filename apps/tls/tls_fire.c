/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_fire.h"

#include "apps/tls/tls_args.h"
#include "probes/site/semaphores.h"

bool
tls_probes_enabled(void)
{
	bool enabled = false;

	/* The tls probes are consecutive in probes/netobs.d. */
	for (unsigned id = PROBE_TLS_CLIENT_HELLO; id <= PROBE_TLS_ALERT; id++)
		enabled |= semaphores_enabled(id);
	return enabled;
}

void
tls_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	struct tlsinfo info;

	if (!semaphores_enabled(PROBE_TLS_CLIENT_HELLO))
		return;
	args_tlsinfo(&info, message);
	emit_app(emitter, PROBE_TLS_CLIENT_HELLO, flow, endpoint, &info, NULL);
}
