/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB 2 and 3 (MS-SMB2): the messages of a connection. */
#ifndef NETOBS_APPS_SMB_SMB_READER_H
#define NETOBS_APPS_SMB_SMB_READER_H

#include "flow/stream/app_flow.h"

extern const struct app_reader smb_reader;

#endif
