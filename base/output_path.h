/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens what is written, and its directory.  Where other users can make entries of a directory, they can prepare what a
 * known name leads to, and have root write there.  Such a directory belongs neither to root nor to this user, or every
 * user can write it, such as /tmp, or a group can that is neither root's nor that of this process.  In it these are
 * refused, whether the kernel refuses them (fs.protected_symlinks and the like) or not:
 *
 * - a symbolic link on the path that belongs neither to root nor to this user;
 * - an existing file, FIFO or device that belongs neither to these two nor to the owner of the directory;
 * - if every user can write the directory, a directory that belongs neither to these three nor to the user who has
 *   started the program by sudo(8);
 * - a link, or an existing file, that has a second name.
 */
#ifndef NETOBS_BASE_OUTPUT_PATH_H
#define NETOBS_BASE_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define OUTPUT_PATH_ERROR_MAX (PATH_MAX + 256) /* bytes of a reason, which contains a path */

/* What captures and records are created with, less the umask: they contain the traffic of all users. */
#define OUTPUT_FILE_MODE 0640

/* Sets the reason to that of errno, with the setting of the unit that may be why (base/unit_clause.h).  Returns -1;
 * errno stays. */
int output_path_fail(const char *path, char error[OUTPUT_PATH_ERROR_MAX]);

/* As open(2); O_CLOEXEC is added.  O_CREAT creates a file with OUTPUT_FILE_MODE if none exists.  The last component may
 * be a link of /proc, as /dev/stdout leads to.  -1 on failure, with errno, and `error` set to the reason. */
int output_path_open(const char *path, int flags, char error[OUTPUT_PATH_ERROR_MAX]);

/* Finds the absolute path without symbolic links of what exists, which is neither read nor written and may have several
 * names.  False with errno and `error` as above. */
bool output_path_resolve(const char *path, char resolved[PATH_MAX], char error[OUTPUT_PATH_ERROR_MAX]);

/* Whether no user but root, this one and the caller of sudo can exchange a component of an absolute path without links:
 * for what uses the path a second time. */
bool output_path_is_firm(const char *resolved);

/* Finds the directory of a path, "." if the path is only a name; `name` is set to the last component, a part of
 * the path.  False with ENAMETOOLONG if the path has PATH_MAX bytes or more. */
bool output_path_split(const char *path, char directory[PATH_MAX], const char **name);

/* Opens the directory of a path with the flags; `name` as above. */
int output_path_open_directory(const char *path, int flags, const char **name, char error[OUTPUT_PATH_ERROR_MAX]);

/* Opens a file without a name, of this user only, in a directory, for reading and writing.  O_CLOEXEC is set.  -1 as
 * above. */
int output_path_open_unnamed(const char *directory, char error[OUTPUT_PATH_ERROR_MAX]);

#endif
