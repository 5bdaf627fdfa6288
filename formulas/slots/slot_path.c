/* SPDX-License-Identifier: BSD-2-Clause */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "formulas/slots/slot_image.h"

/* NULL if only root and this user can replace the entries of a directory; otherwise what is wrong. */
static const char *
slot_path_check_owner(int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return strerror(errno);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return "belongs to another user";
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0)
		return "is writable by others; chmod go-w";
	return NULL;
}

/* Opens and checks the directory `name` of `parent`, which it closes; -1 with a reason. */
static int
slot_path_enter(int parent, const char *name, const char **reason)
{
	int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*reason = fd < 0 ? strerror(errno) : slot_path_check_owner(fd);
	if (parent >= 0)
		close(parent);
	if (*reason == NULL)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Whether a file has a second name in a directory in which other users can create names: one of them may have given it
 * that name. */
static bool
slot_path_is_foreign_name(int parent, const struct stat *file)
{
	struct stat directory;

	return S_ISREG(file->st_mode) && file->st_nlink > 1 &&
	       (fstat(parent, &directory) != 0 || (directory.st_mode & (S_IWGRP | S_IWOTH)) != 0);
}

/* Opens the last component; -1 with a reason.  To open a device can have effects, and to open a FIFO wakes its reader:
 * neither is opened. */
static int
slot_path_open_last(int parent, const char *name, int flags, const char **reason)
{
	struct stat status;
	int fd;

	if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode) &&
	    !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode)) {
		*reason = "is not a plain file";
		return -1;
	}
	fd = openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		*reason = strerror(errno);
	} else if (fstat(fd, &status) != 0 || slot_path_is_foreign_name(parent, &status)) {
		*reason = "has further names (hard links), in a directory that others can write";
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Opens each directory by its parent, so that no directory can be replaced after its check. */
int
slot_path_open(const char *path, int flags, char error[SLOT_ERROR_MAX])
{
	char copy[PATH_MAX], *rest = copy + 1, *name;
	const char *reason = NULL;
	int parent, fd = -1;

	if (path[0] != '/' || strlen(path) >= sizeof copy) {
		slot_image_fail(error, path, "not an absolute path");
		return -1;
	}
	memcpy(copy, path, strlen(path) + 1);
	parent = slot_path_enter(-1, "/", &reason);
	if (parent < 0)
		slot_image_fail(error, "/", reason);
	while (parent >= 0 && (name = strsep(&rest, "/")) != NULL) {
		if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
			slot_image_fail(error, path, "not a path without . and ..");
			break;
		}
		if (rest == NULL) {
			fd = slot_path_open_last(parent, name, flags, &reason);
			if (fd < 0)
				slot_image_fail(error, path, reason);
			break;
		}
		parent = slot_path_enter(parent, name, &reason);
		if (parent < 0)
			slot_image_fail(error, copy, reason); /* strsep() has cut `copy` after the component */
		rest[-1] = '/';
	}
	if (parent >= 0)
		close(parent);
	return fd;
}

bool
slot_path_resolve(const char *path, char resolved[PATH_MAX], char error[SLOT_ERROR_MAX])
{
	char reason[OUTPUT_PATH_ERROR_MAX];
	int number;

	if (output_path_resolve(path, resolved, reason))
		return true;
	number = errno;
	slot_image_fail(error, path, reason);
	errno = number;
	return false;
}

const char *
slot_path_check_file(int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return strerror(errno);
	if (status.st_uid != geteuid())
		return "belongs to another user";
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "is writable by others; chmod go-w";
	return S_ISREG(status.st_mode) ? NULL : "is not a plain file";
}

bool
slot_path_check_directory(const char *directory, char error[SLOT_ERROR_MAX])
{
	const char *reason;
	int fd = strcmp(directory, "/") == 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
					     : slot_path_open(directory, O_PATH | O_DIRECTORY, error);

	if (fd < 0)
		return false;
	reason = slot_path_check_owner(fd);
	close(fd);
	return reason == NULL || slot_image_fail(error, directory, reason);
}
