/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/smb/smb_message.h"

#include "dissect/cursor.h"
