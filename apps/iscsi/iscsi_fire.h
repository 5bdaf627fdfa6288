/* SPDX-License-Identifier: BSD-2-Clause */
/* Fires the iscsi probes: one per PDU, selected by its operation code. */
#ifndef NETOBS_APPS_ISCSI_ISCSI_FIRE_H
#define NETOBS_APPS_ISCSI_ISCSI_FIRE_H

#include "apps/iscsi/iscsi_reader.h"
#include "probes/fire.h"

/* Whether any of them is enabled. */
bool iscsi_probes_enabled(void);

/* `message` is a struct iscsi_message of `flow`, as endpoint `endpoint` sees it. */
void iscsi_fire(struct emitter *emitter, const struct flow *flow, unsigned endpoint, const void *message);

#endif
