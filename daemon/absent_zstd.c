/* SPDX-License-Identifier: BSD-2-Clause */
/* For builds without libzstd: zstd is recognised, not read. */
#include "daemon/unpack.h"

const struct unpack_format unpack_zstd = {.name = ZSTD_NAME, .magic = ZSTD_MAGIC, .magic_length = 4};
