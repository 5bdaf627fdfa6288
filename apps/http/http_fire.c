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
	const struct http_message *request = message;
	enum probe_id probe = request->done ? PROBE_HTTP_REQUEST_DONE : PROBE_HTTP_REQUEST_START;
	struct httpinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_httpinfo(&info, request, flow, endpoint);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}
