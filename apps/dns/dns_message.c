/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/dns/dns_message.h"

#include "dissect/cursor.h"
