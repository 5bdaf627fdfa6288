/* SPDX-License-Identifier: BSD-2-Clause */
/* iSCSI as an application provider. */
#ifndef NETOBS_APPS_ISCSI_ISCSI_APP_H
#define NETOBS_APPS_ISCSI_ISCSI_APP_H

#include "apps/app.h"

extern const struct app_protocol iscsi_app;

#endif
