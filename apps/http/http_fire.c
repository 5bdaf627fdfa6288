/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_fire.h"

#include "apps/http/http_args.h"
#include "probes/site/semaphores.h"

bool
http_probes_enabled(void)
{
	bool enabled = false;

	/* The http probes are consecutive in probes/netobs.d. */
	for (unsigned id = PROBE_HTTP_REQUEST_START; id <= PROBE_HTTP_REQUEST_DONE; id++)
		enabled |= semaphores_enabled(id);
	return enabled;
}

void
http_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	struct httpinfo info;

	if (!semaphores_enabled(PROBE_HTTP_REQUEST_START))
		return;
	args_httpinfo(&info, message);
	emit_app(emitter, PROBE_HTTP_REQUEST_START, flow, endpoint, &info, NULL);
}
