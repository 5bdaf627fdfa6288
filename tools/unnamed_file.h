/* SPDX-License-Identifier: BSD-2-Clause */
/* A file without a name, which is gone when its last descriptor is closed. */
#ifndef NETOBS_TOOLS_UNNAMED_FILE_H
#define NETOBS_TOOLS_UNNAMED_FILE_H

#include <stddef.h>

/* Opens a new one in $TMPDIR, or in `fallback` if that is not set or empty: a descriptor for reading and writing, which
 * children inherit; -1 with `error`. */
int unnamed_file_open(const char *fallback, char *error, size_t size);

#endif
