/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file formulas.so, which tracers and netobsd read.  Names are changed in place, in the same inode, so that tracers
 * that are attached stay attached.  Editors of a file wait for each other by a lock on it.
 *
 * Only a file that equals this build's formulas.so, but for the names, is ever read or changed.
 */
#ifndef NETOBS_FORMULAS_SLOTS_SLOT_FILE_H
#define NETOBS_FORMULAS_SLOTS_SLOT_FILE_H

#include <sys/types.h>

#include "formulas/slots/slot_notes.h"

/* Reads the names in an open file.  False, with a reason, if it is not this build's formulas.so. */
bool slot_file_read(int fd, struct slot_names *names, char error[SLOT_ERROR_MAX]);

/* Like slot_file_read(), of a path; waits for an editor. */
bool slots_read_names(const char *path, struct slot_names *names, char error[SLOT_ERROR_MAX]);

/* Gives the slot `index` a name, or the default name if it is NULL.  False, with a reason, if that fails; the file is
 * then unchanged unless writing itself failed. */
bool slots_write_name(const char *path, unsigned index, const char *name, char error[SLOT_ERROR_MAX]);

/*
 * Makes the file have these names, `count` of them: creates it, with its directory, if it is missing, and replaces it
 * if it is of another build or damaged, or if another user can change it.  A name that the file has already
 * keeps its slot; others get a slot with the default name, and only if there is none left one whose name is not wanted.
 * Users of group `gid` may read the file; (gid_t)-1 keeps the group of this process.  False, with a reason, on failure.
 */
bool slots_install(const char *path, const char *const *wanted, size_t count, gid_t gid, char error[SLOT_ERROR_MAX]);

/* Writes a new file with these names.  False, with a reason, on failure; there is no file then. */
bool slot_file_create(const char *path, const struct slot_names *names, gid_t gid, mode_t mode,
		      char error[SLOT_ERROR_MAX]);

#endif
