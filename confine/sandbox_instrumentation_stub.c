/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/sandbox.h"

const struct sandbox_table sandbox_instrumentation = {.purpose = "instrumentation"};
