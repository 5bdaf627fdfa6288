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
#ifndef NETOBS_BASE_TRUSTED_PATH_H
#define NETOBS_BASE_TRUSTED_PATH_H

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

#endif
