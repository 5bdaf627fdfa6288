/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/example/example_fire.h"

#include "apps/example/example_args.h"
#include "probes/site/semaphores.h"

bool
example_probes_enabled(void)
{
	return semaphores_enabled(PROBE_EXAMPLE_MESSAGE);
}

void
example_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	struct exampleinfo info;

	if (!semaphores_enabled(PROBE_EXAMPLE_MESSAGE))
		return;
	args_exampleinfo(&info, message);
	emit_app(emitter, PROBE_EXAMPLE_MESSAGE, flow, endpoint, &info, NULL);
}
