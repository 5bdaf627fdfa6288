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
	const struct tls_message *reported = message;
	enum probe_id probe = (enum probe_id)(PROBE_TLS_CLIENT_HELLO + (unsigned)reported->event);
	struct tlsinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_tlsinfo(&info, reported);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}
