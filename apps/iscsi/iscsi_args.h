/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the argument structs of the iscsi probes.  Pure: every field is written each time. */
#ifndef NETOBS_APPS_ISCSI_ISCSI_ARGS_H
#define NETOBS_APPS_ISCSI_ISCSI_ARGS_H

#include "apps/iscsi/iscsi_reader.h"
#include "probes/args/args.h"

void args_iscsiinfo(struct iscsiinfo *info, const struct iscsi_message *message);

/* `cdb` receives the command's bytes; tracers read them there. */
void args_iscsicmd(struct iscsicmd *info, uint8_t cdb[ISCSI_CDB_MAX], const struct iscsi_pdu *pdu);

#endif
