/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http_message.h"

#include "dissect/cursor.h"
