/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths that no other user can redirect: what is checked by a path is then what is used by the same path. */
#ifndef NETOBS_FORMULAS_SLOTS_SLOT_PATH_H
#define NETOBS_FORMULAS_SLOTS_SLOT_PATH_H

#include <limits.h>

#include "formulas/slots/slot_notes.h"

/* Finds the absolute path without symbolic links of what exists.  False, with errno and a reason, on failure, also if
 * another user can have prepared a link on the path; see output_path.h. */
bool slot_path_resolve(const char *path, char resolved[PATH_MAX], char error[SLOT_ERROR_MAX]);

/* Opens the last component of an absolute path without symbolic links, "." and "..", if only root and this user can
 * replace the entries of each directory before it.  Devices, FIFOs and sockets are not opened, nor a file with a
 * second name in a directory in which others can create names.  -1, with a reason, on failure. */
int slot_path_open(const char *path, int flags, char error[SLOT_ERROR_MAX]);

/* NULL if only this user can change an open file; otherwise what is wrong.  It may have several names
 * elsewhere: perf adds a file to its cache by a hard link. */
const char *slot_path_check_file(int fd);

/* The same for a directory, whose entries must be safe, too. */
bool slot_path_check_directory(const char *directory, char error[SLOT_ERROR_MAX]);

#endif
