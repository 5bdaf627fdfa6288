/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens files by paths that no other user can redirect.  A path is trusted if each directory on it, each symbolic link
 * and its target belong to root or to a trusted user, and are not writable by others.  A group other than root's counts
 * as others.  A directory with the sticky bit may be writable, because its entries can be replaced by their owners
 * only, and the owner of the next entry is checked.
 *
 * In a user namespace without the host's root, as an unprivileged container is, root's directories appear as those of
 * an unknown user.  If the root directory does, directories of the unknown user are trusted; files and links are not,
 * because those of every other user of the host look the same.
 */
#ifndef NETOBS_BASE_PATH_H
#define NETOBS_BASE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define TRUSTED_PATH_ERROR_MAX (2 * (PATH_MAX + NAME_MAX) + 128) /* bytes of a reason, which may contain paths */

/* Sets whether paths are checked from now on, and the trusted user besides root.  Call it once, at the start of a
 * process that has privileges: both hold after the process has changed its user. */
void trusted_path_require(bool required, uid_t uid);

/* Opens a file or directory with the flags of open(2), without O_CREAT; O_CLOEXEC is added.  If checks are required,
 * every component is opened and examined through its descriptor; `uid` is trusted, too.  The last component may be a
 * link of /proc, such as /dev/fd/N: then the opened file alone is examined.  -1 on failure, with `error` set to the
 * reason; for a path that is not trusted, with the component at fault and the remedy. */
int trusted_path_open(const char *path, int flags, uid_t uid, char error[TRUSTED_PATH_ERROR_MAX]);

/* ------------------------------------------------------------------------------------------------------ output path */

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

#define OUTPUT_PATH_ERROR_MAX (PATH_MAX + 256) /* bytes of a reason, which contains a path */

/* What captures and records are created with, less the umask: they contain the traffic of all users. */
#define OUTPUT_FILE_MODE 0640

/* Sets the reason to that of errno, with the setting of the unit that may be why (base/log.h).  Returns -1;
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

/* -------------------------------------------------------------------------------------------------- descriptor path */

/* Paths that stand for an open descriptor: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N. */

/* The descriptor, which need not be open; -1 for another path, and for NULL. */
int descriptor_of_path(const char *path);

#endif
