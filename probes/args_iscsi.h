/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the argument structs of application providers.  Pure: every field is written each time. */
#ifndef NETOBS_PROBES_ARGS_ISCSI_H
#define NETOBS_PROBES_ARGS_ISCSI_H

#include "flow/iscsi_session.h"
#include "probes/args.h"

/* The connection as an endpoint sees it; the message was completed by packet `packet` at `now`.  ci_seq is left 0: it
 * belongs to the firing. */
void args_conninfo(struct conninfo *info, const struct viewpoint *of, uint64_t packet, uint64_t now);

void args_iscsiinfo(struct iscsiinfo *info, const struct iscsi_message *message);

/* `cdb` is where the command's bytes are put for tracers to read. */
void args_iscsicmd(struct iscsicmd *info, uint8_t cdb[ISCSI_CDB_MAX], const struct iscsi_pdu *pdu);

#endif
