/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/sandbox_rules.h"

const struct sandbox_table sandbox_instrumentation = {.purpose = "instrumentation"};
