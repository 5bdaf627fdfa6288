/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/complete_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"

#define HIDDEN_SUFFIX ".netobsctl-part"

/* Attempts to take the hidden name. */
#define CLAIMS_TRIED 16u

struct complete_file {
	int fd, directory; /* -1: none */
	bool hidden;	   /* the file has its hidden name */
	char name[NAME_MAX + 1], hidden_name[NAME_MAX + 1];
	char path[PATH_MAX];
};

static bool
file_fail(const struct complete_file *file, const char *what, char *error, size_t size)
{
	snprintf(error, size, "cannot %s %s: %s%s", what, file->path, strerror(errno),
		 unit_clause_of_path(file->path, errno));
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Splits the path.  False with errno. */
static bool
file_set_names(struct complete_file *file, const char *path, char directory[PATH_MAX])
{
	const char *name;
	int length;

	if (!output_path_split(path, directory, &name))
		return false;
	errno = ENAMETOOLONG;
	if (strlen(name) > NAME_MAX)
		return false;
	errno = *path == '\0' ? ENOENT : EISDIR;
	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	snprintf(file->path, sizeof file->path, "%s", path);
	snprintf(file->name, sizeof file->name, "%s", name);
	length = snprintf(file->hidden_name, sizeof file->hidden_name, ".%.*s" HIDDEN_SUFFIX,
			  NAME_MAX - 1 - (int)sizeof HIDDEN_SUFFIX, name);
	errno = ENAMETOOLONG;
	return length > 0 && (size_t)length < sizeof file->hidden_name;
}

/* Only a regular file is replaced: a symbolic link may stand for something else, as /dev/stdout does.  False with
 * errno. */
static bool
file_may_replace(const struct complete_file *file)
{
	struct stat status;

	if (fstatat(file->directory, file->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT;
	errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
	return S_ISREG(status.st_mode);
}

/* Removes the file with the hidden name if no process has locked it: a killed program left it behind.  False with errno
 * if another program is writing it. */
static bool
file_remove_leftover(const struct complete_file *file)
{
	int fd = openat(file->directory, file->hidden_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat opened, named;
	bool removed = true;

	if (fd < 0)
		return errno == ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		errno = EBUSY;
		removed = false;
	} else if (fstat(fd, &opened) == 0 &&
		   fstatat(file->directory, file->hidden_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		   opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
		/* Only the holder of the lock removes or renames the file of this name. */
		removed = unlinkat(file->directory, file->hidden_name, 0) == 0;
	}
	close(fd);
	return removed;
}

/* The path by which linkat() reaches a file without a name. */
static void
file_descriptor_path(const struct complete_file *file, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", file->fd);
}

/* Opens a file without a name.  False with errno: ENOENT also if it could not get a name later, because /proc is not
 * mounted (AT_EMPTY_PATH needs a capability). */
static bool
file_open_unnamed(struct complete_file *file)
{
	char descriptor[64];

	file->fd = openat(file->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, OUTPUT_FILE_MODE);
	if (file->fd < 0)
		return false;
	file_descriptor_path(file, descriptor);
	if (access(descriptor, F_OK) == 0)
		return true;
	close(file->fd);
	file->fd = -1;
	errno = ENOENT;
	return false;
}

/* Gives a file without a name its hidden name.  False with errno. */
static bool
file_link_hidden(struct complete_file *file)
{
	char descriptor[64];

	file_descriptor_path(file, descriptor);
	for (unsigned i = 0; i < CLAIMS_TRIED && !file->hidden; i++) {
		file->hidden = linkat(AT_FDCWD, descriptor, file->directory, file->hidden_name, AT_SYMLINK_FOLLOW) == 0;
		if (!file->hidden && (errno != EEXIST || !file_remove_leftover(file)))
			return false;
	}
	return file->hidden;
}

/* Creates a file with the hidden name.  False with errno. */
static bool
file_create_hidden(struct complete_file *file)
{
	struct stat status;

	for (unsigned i = 0; i < CLAIMS_TRIED; i++) {
		file->fd = openat(file->directory, file->hidden_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				  OUTPUT_FILE_MODE);
		if (file->fd < 0 && (errno != EEXIST || !file_remove_leftover(file)))
			return false;
		if (file->fd < 0)
			continue;
		/* Another program may have taken it for a leftover before it was locked. */
		file->hidden =
		    flock(file->fd, LOCK_EX | LOCK_NB) == 0 && fstat(file->fd, &status) == 0 && status.st_nlink > 0;
		if (file->hidden)
			return true;
		close(file->fd);
		file->fd = -1;
	}
	errno = EBUSY;
	return false;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static bool
file_begin(struct complete_file *file, bool unnamed)
{
	if (!file_may_replace(file) || !file_remove_leftover(file))
		return false;
	if (unnamed && file_open_unnamed(file))
		return flock(file->fd, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK;
	if (unnamed && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return false;
	return file_create_hidden(file);
}

struct complete_file *
complete_file_open(const char *path, bool unnamed, char *error, size_t size)
{
	struct complete_file *file = calloc(1, sizeof *file);
	char directory[PATH_MAX], reason[OUTPUT_PATH_ERROR_MAX];

	if (file == NULL) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	file->fd = file->directory = -1;
	if (!file_set_names(file, path, directory)) {
		snprintf(error, size, "cannot create %.400s: %s", path, strerror(errno));
		free(file);
		return NULL;
	}
	file->directory = output_path_open(directory, O_RDONLY | O_DIRECTORY, reason);
	if (file->directory >= 0 && file_begin(file, unnamed))
		return file;
	if (file->directory < 0)
		snprintf(error, size, "cannot create %s: %s", file->path, reason);
	else if (errno == EBUSY)
		snprintf(error, size, "cannot create %s: another netobsctl is writing it", file->path);
	else if (errno == EEXIST)
		snprintf(error, size, "cannot create %s: it exists and is not a regular file", file->path);
	else
		file_fail(file, "create", error, size);
	complete_file_discard(file);
	return NULL;
}

bool
complete_file_write(struct complete_file *file, const void *bytes, size_t length, char *error, size_t size)
{
	const char *from = bytes;

	while (length > 0) {
		ssize_t written = write(file->fd, from, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return file_fail(file, "write", error, size);
		from += written;
		length -= (size_t)written;
	}
	return true;
}

bool
complete_file_publish(struct complete_file *file, char *error, size_t size)
{
	bool done = false;

	if (fsync(file->fd) != 0)
		file_fail(file, "write", error, size);
	else if (!file->hidden && !file_link_hidden(file))
		file_fail(file, "complete", error, size);
	else if (!file_may_replace(file) ||
		 renameat(file->directory, file->hidden_name, file->directory, file->name) != 0)
		file_fail(file, "complete", error, size);
	else
		done = true;
	if (done) {
		file->hidden = false;
		(void)fsync(file->directory);
	}
	complete_file_discard(file);
	return done;
}

void
complete_file_discard(struct complete_file *file)
{
	if (file == NULL)
		return;
	if (file->hidden)
		(void)unlinkat(file->directory, file->hidden_name, 0);
	if (file->fd >= 0)
		close(file->fd);
	if (file->directory >= 0)
		close(file->directory);
	free(file);
}
