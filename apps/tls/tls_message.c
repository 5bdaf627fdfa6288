/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_message.h"

#include "dissect/cursor.h"
