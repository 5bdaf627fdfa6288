/* SPDX-License-Identifier: BSD-2-Clause */
/* The smb probes fire. */
#ifndef NETOBS_APPS_SMB_SMB_FIRE_H
#define NETOBS_APPS_SMB_SMB_FIRE_H

#include "probes/fire.h"

/* Whether any smb probe is enabled. */
bool smb_probes_enabled(void);

/* Fires the probe of a struct smb_operation, unless it is not enabled. */
void smb_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
