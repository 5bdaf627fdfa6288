/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_fire.h"

#include "apps/smb/smb_args.h"
#include "probes/site/semaphores.h"

bool
smb_probes_enabled(void)
{
	return semaphores_enabled(PROBE_SMB_OP_START) || semaphores_enabled(PROBE_SMB_OP_DONE);
}

void
smb_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message)
{
	const struct smb_operation *operation = message;
	enum probe_id probe = operation->from_server ? PROBE_SMB_OP_DONE : PROBE_SMB_OP_START;
	struct smbopinfo info;

	if (!semaphores_enabled(probe))
		return;
	args_smbopinfo(&info, operation);
	emit_app(emitter, probe, flow, endpoint, &info, NULL);
}
