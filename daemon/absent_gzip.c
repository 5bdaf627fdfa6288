/* SPDX-License-Identifier: BSD-2-Clause */
/* For builds without zlib: gzip is recognised, not read. */
#include "daemon/unpack.h"

const struct unpack_format unpack_gzip = {.name = GZIP_NAME, .magic = GZIP_MAGIC, .magic_length = 2};
