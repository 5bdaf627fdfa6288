/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_fire.h"

#include "apps/smb/smb_args.h"
#include "probes/site/semaphores.h"

bool
smb_probes_enabled(void)
{
	bool enabled = false;

	/* The smb probes are consecutive in probes/netobs.d. */
	for (unsigned id = PROBE_SMB_OP_START; id <= PROBE_SMB_OP_DONE; id++)
		enabled |= semaphores_enabled(id);
	return enabled;
}

void
smb_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	struct smbopinfo info;

	if (!semaphores_enabled(PROBE_SMB_OP_START))
		return;
	args_smbopinfo(&info, message);
	emit_app(emitter, PROBE_SMB_OP_START, flow, endpoint, &info, NULL);
}
