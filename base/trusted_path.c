/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/trusted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/unit_clause.h"

#define LINKS_MAX 40 /* symbolic links on one path, as in the kernel */

static struct {
	bool required;
	uid_t uid;
	uid_t root_owner; /* of the root directory, if no user of this namespace is that one; otherwise root */
} trust;

struct path_walk {
	int directory;		/* the directory reached so far */
	char reached[PATH_MAX]; /* its path without links; empty for the root directory */
	char pending[PATH_MAX]; /* components that follow */
	unsigned links;		/* links resolved so far */
	int flags;		/* of the last component */
	uid_t uid;
	const char *path;
	char *error;
};

/* Whether the user namespace of this process has the user.  Owners that it has not appear as one and the same user. */
static bool
trusted_path_is_mapped(uid_t uid)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	unsigned long first, outside, count;
	bool mapped = map == NULL;

	while (!mapped && fscanf(map, "%lu %lu %lu", &first, &outside, &count) == 3)
		mapped = uid >= first && uid - first < count;
	if (map != NULL)
		fclose(map);
	return mapped;
}

void
trusted_path_require(bool required, uid_t uid)
{
	struct stat root;

	trust.required = required;
	trust.uid = uid;
	trust.root_owner = 0;
	if (required && stat("/", &root) == 0 && !trusted_path_is_mapped(root.st_uid))
		trust.root_owner = root.st_uid;
}

static void
path_walk_set_errno(const struct path_walk *walk)
{
	snprintf(walk->error, TRUSTED_PATH_ERROR_MAX, "%s%s", strerror(errno), unit_clause_of_path(walk->path, errno));
}

/* --------------------------------------------------------------------------------------------------------- checking */

/* A directory may be the home of its user, which must not become root's: another path is the first remedy. */
static bool
path_walk_check_owner(const struct path_walk *walk, const char *name, const struct stat *status)
{
	const char *remedy = "chown root";

	if (status->st_uid == 0 || status->st_uid == walk->uid || status->st_uid == trust.uid ||
	    (S_ISDIR(status->st_mode) && status->st_uid == trust.root_owner))
		return true;
	if (S_ISDIR(status->st_mode))
		remedy = "use a path below directories of root only, or chown root";
	else if (S_ISLNK(status->st_mode))
		remedy = "chown -h root";
	snprintf(walk->error, TRUSTED_PATH_ERROR_MAX, "%s/%s belongs to user %lu; %s %s/%s", walk->reached, name,
		 (unsigned long)status->st_uid, remedy, walk->reached, name);
	return false;
}

/* Checks a directory or another file that is no link. */
static bool
path_walk_check(const struct path_walk *walk, const char *name, const struct stat *status)
{
	bool sticky = S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX) != 0;
	bool others = (status->st_mode & S_IWOTH) != 0, group = (status->st_mode & S_IWGRP) != 0 && status->st_gid != 0;

	if (!path_walk_check_owner(walk, name, status))
		return false;
	if (sticky || (!others && !group))
		return true;
	snprintf(walk->error, TRUSTED_PATH_ERROR_MAX, "%s/%s is writable by %s (mode %04o); chmod %s-w %s/%s",
		 walk->reached, name, others ? "every user" : "its group", (unsigned)status->st_mode & 07777u,
		 !others ? "g" : group ? "go" : "o", walk->reached, name);
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- walking */

/* Takes the next component off the pending ones, "." at their end. */
static bool
path_walk_next_name(struct path_walk *walk, char name[NAME_MAX + 1])
{
	size_t skip = strspn(walk->pending, "/"), length = strcspn(walk->pending + skip, "/");

	if (length > NAME_MAX) {
		errno = ENAMETOOLONG;
		path_walk_set_errno(walk);
		return false;
	}
	memcpy(name, walk->pending + skip, length);
	name[length] = '\0';
	if (length == 0)
		memcpy(name, ".", 2);
	memmove(walk->pending, walk->pending + skip + length, strlen(walk->pending + skip + length) + 1);
	return true;
}

static bool
path_walk_is_last(const struct path_walk *walk)
{
	return walk->pending[strspn(walk->pending, "/")] == '\0';
}

/* Continues in a directory.  The walk closes it. */
static void
path_walk_enter(struct path_walk *walk, int directory, const char *name)
{
	char *end = strrchr(walk->reached, '/');
	size_t used = strlen(walk->reached);

	close(walk->directory);
	walk->directory = directory;
	if (strcmp(name, "..") != 0)
		snprintf(walk->reached + used, sizeof walk->reached - used, "/%s", name);
	else if (end != NULL)
		*end = '\0';
}

/* Opens and checks the root directory. */
static bool
path_walk_start(struct path_walk *walk)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (root < 0 || fstat(root, &status) != 0) {
		path_walk_set_errno(walk);
		if (root >= 0)
			close(root);
		return false;
	}
	if (walk->directory >= 0)
		close(walk->directory);
	walk->directory = root;
	walk->reached[0] = '\0';
	return path_walk_check(walk, "", &status);
}

/* Puts the target of a link before the pending components. */
static bool
path_walk_follow(struct path_walk *walk, int link, const char *name, const struct stat *status)
{
	char target[PATH_MAX];
	size_t rest = strlen(walk->pending);
	ssize_t length = readlinkat(link, "", target, sizeof target - 1);

	if (!path_walk_check_owner(walk, name, status))
		return false;
	if (length > 0 && (size_t)length + 1 + rest >= sizeof walk->pending)
		errno = ENAMETOOLONG;
	else if (length > 0 && ++walk->links > LINKS_MAX)
		errno = ELOOP;
	else if (length > 0) {
		target[length++] = '/';
		memmove(walk->pending + length, walk->pending, rest + 1);
		memcpy(walk->pending, target, (size_t)length);
		return target[0] != '/' || path_walk_start(walk);
	}
	path_walk_set_errno(walk);
	return false;
}

/* Opens and checks the last component. */
static int
path_walk_open_last(const struct path_walk *walk, const char *name, int flags)
{
	int fd = openat(walk->directory, name, flags | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		path_walk_set_errno(walk);
	else if (path_walk_check(walk, strcmp(name, ".") == 0 ? "" : name, &status))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool
path_walk_in_procfs(const struct path_walk *walk)
{
	struct statfs system;

	return fstatfs(walk->directory, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* Takes one step.  True if the walk goes on; at its end `*result` is the opened file or -1. */
static bool
path_walk_step(struct path_walk *walk, int *result)
{
	char name[NAME_MAX + 1];
	struct stat status;
	bool last, entered;
	int fd;

	*result = -1;
	if (!path_walk_next_name(walk, name))
		return false;
	last = path_walk_is_last(walk);
	if (strcmp(name, ".") == 0 && !last)
		return true;
	fd = openat(walk->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0) {
		path_walk_set_errno(walk);
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (S_ISLNK(status.st_mode) && !(last && path_walk_in_procfs(walk))) {
		bool followed = path_walk_follow(walk, fd, name, &status);

		close(fd);
		return followed;
	}
	if (last) {
		close(fd);
		*result = path_walk_open_last(walk, name, walk->flags | (S_ISLNK(status.st_mode) ? 0 : O_NOFOLLOW));
		return false;
	}
	errno = ENOTDIR;
	if (!S_ISDIR(status.st_mode))
		path_walk_set_errno(walk);
	entered = S_ISDIR(status.st_mode) && path_walk_check(walk, name, &status);
	if (entered)
		path_walk_enter(walk, fd, name);
	else
		close(fd);
	return entered;
}

int
trusted_path_open(const char *path, int flags, uid_t uid, char error[TRUSTED_PATH_ERROR_MAX])
{
	struct path_walk walk = {.directory = -1, .flags = flags, .uid = uid, .path = path, .error = error};
	char directory[PATH_MAX] = "";
	int fd = -1;

	if (!trust.required) {
		fd = open(path, flags | O_CLOEXEC);
		if (fd < 0)
			path_walk_set_errno(&walk);
		return fd;
	}
	errno = ENAMETOOLONG;
	if ((*path != '/' && getcwd(directory, sizeof directory) == NULL) ||
	    snprintf(walk.pending, sizeof walk.pending, "%s/%s", directory, path) >= (int)sizeof walk.pending ||
	    *path == '\0') {
		errno = *path == '\0' ? ENOENT : errno;
		path_walk_set_errno(&walk);
		return -1;
	}
	if (path_walk_start(&walk))
		while (path_walk_step(&walk, &fd))
			continue;
	if (walk.directory >= 0)
		close(walk.directory);
	return fd;
}
