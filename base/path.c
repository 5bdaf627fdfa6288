/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"

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

/* Checks a directory or another file that is not a link. */
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

/* ------------------------------------------------------------------------------------------------------ output path */

#define LINKS_MAX 40 /* symbolic links on one path, as in the kernel */

/* Times that a file is opened anew because another process has created or removed it meanwhile. */
#define ATTEMPTS_MAX 16u

struct output_walk {
	int directory;		/* the directory reached so far */
	char pending[PATH_MAX]; /* components that follow */
	unsigned links;		/* links followed so far */
	const char *path;
	char *error;
};

int
output_path_fail(const char *path, char error[OUTPUT_PATH_ERROR_MAX])
{
	int reason = errno;

	snprintf(error, OUTPUT_PATH_ERROR_MAX, "%s%s", strerror(reason), unit_clause_of_path(path, reason));
	errno = reason;
	return -1;
}

static int
walk_fail(const struct output_walk *walk)
{
	return output_path_fail(walk->path, walk->error);
}

/* Closes a descriptor, and keeps errno. */
static void
walk_close(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

static bool
user_is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Whether this is the user for whom sudo runs this program: the environment of another user does not count. */
static bool
user_is_caller(uid_t uid)
{
	const char *caller = secure_getenv("SUDO_UID");
	char text[32];

	snprintf(text, sizeof text, "%lu", (unsigned long)uid);
	return caller != NULL && strcmp(caller, text) == 0;
}

/* Whether users other than root and this one can make entries of the directory.  The owner of the root directory is
 * root, also where the user namespace has no such user. */
static bool
directory_is_open(const struct stat *directory)
{
	struct stat root;

	if ((directory->st_mode & S_IWOTH) != 0)
		return true;
	if ((directory->st_mode & S_IWGRP) != 0 && directory->st_gid != 0 && directory->st_gid != getegid())
		return true;
	return !user_is_trusted(directory->st_uid) && (stat("/", &root) != 0 || directory->st_uid != root.st_uid);
}

/* Whether an entry of a directory that is open to other users may be used although it belongs to this user. */
static bool
owner_is_accepted(const struct stat *directory, const struct stat *entry)
{
	if (user_is_trusted(entry->st_uid))
		return true;
	if (S_ISLNK(entry->st_mode))
		return false;
	if (entry->st_uid == directory->st_uid)
		return true;
	return S_ISDIR(entry->st_mode) && ((directory->st_mode & S_IWOTH) == 0 || user_is_caller(entry->st_uid));
}

/* Whether an entry of the directory reached may be followed, entered or opened with the flags. */
static bool
walk_check_entry(const struct output_walk *walk, const char *name, const struct stat *entry, int flags)
{
	bool one_name = S_ISLNK(entry->st_mode) || (S_ISREG(entry->st_mode) && (flags & O_PATH) == 0), accepted;
	struct stat directory;
	const char *writers;

	if (fstat(walk->directory, &directory) != 0)
		return walk_fail(walk) == 0;
	if (!directory_is_open(&directory) || strcmp(name, "..") == 0)
		return true;
	accepted = owner_is_accepted(&directory, entry);
	if (accepted && (!one_name || entry->st_nlink <= 1))
		return true;
	errno = EACCES;
	writers = (directory.st_mode & S_IWOTH) != 0 ? "every user" : "another user";
	if (!accepted)
		snprintf(walk->error, OUTPUT_PATH_ERROR_MAX,
			 "%.200s is a %s of user %lu in a directory that %s can write; remove it, or use another "
			 "directory",
			 name,
			 S_ISLNK(entry->st_mode)   ? "symbolic link"
			 : S_ISDIR(entry->st_mode) ? "directory"
						   : "file",
			 (unsigned long)entry->st_uid, writers);
	else
		snprintf(walk->error, OUTPUT_PATH_ERROR_MAX,
			 "%.200s has further names (hard links), in a directory that %s can write; remove it, or use "
			 "another directory",
			 name, writers);
	return false;
}

/* Takes the next component off the pending ones; "." if there is none. */
static bool
walk_next_name(struct output_walk *walk, char name[NAME_MAX + 1], bool *last)
{
	size_t skip = strspn(walk->pending, "/"), length = strcspn(walk->pending + skip, "/");
	const char *rest = walk->pending + skip + length;

	if (length > NAME_MAX) {
		errno = ENAMETOOLONG;
		return walk_fail(walk) == 0;
	}
	memcpy(name, walk->pending + skip, length);
	name[length] = '\0';
	if (length == 0)
		memcpy(name, ".", 2);
	memmove(walk->pending, rest, strlen(rest) + 1);
	*last = *walk->pending == '\0';
	return true;
}

/* Goes to another directory. */
static bool
walk_enter(struct output_walk *walk, int directory)
{
	if (directory < 0)
		return walk_fail(walk) == 0;
	if (walk->directory >= 0)
		close(walk->directory);
	walk->directory = directory;
	return true;
}

/* Goes to where a relative or absolute path begins. */
static bool
walk_start(struct output_walk *walk, const char *path)
{
	if (*path != '/' && walk->directory >= 0)
		return true;
	return walk_enter(walk, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Puts the target of an open link before the pending components. */
static bool
walk_follow(struct output_walk *walk, int link)
{
	char target[PATH_MAX];
	size_t rest = strlen(walk->pending);
	ssize_t length = readlinkat(link, "", target, sizeof target);

	if (length < 0)
		return walk_fail(walk) == 0;
	if (length == 0)
		errno = ENOENT;
	else if ((size_t)length + 1 + rest >= sizeof walk->pending)
		errno = ENAMETOOLONG;
	else if (++walk->links > LINKS_MAX)
		errno = ELOOP;
	else {
		memmove(walk->pending + length + (rest > 0), walk->pending, rest + 1);
		if (rest > 0)
			walk->pending[length] = '/';
		memcpy(walk->pending, target, (size_t)length);
		return walk_start(walk, target);
	}
	return walk_fail(walk) == 0;
}

/* Opens an existing entry if it may be written.  -1 with errno; ENOENT: it has changed meanwhile. */
static int
walk_open_existing(const struct output_walk *walk, const char *name, int flags)
{
	int fd = openat(walk->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat named, opened;
	bool good;

	if (fd < 0 || fstat(fd, &named) != 0) {
		if (fd >= 0)
			walk_close(fd);
		return walk_fail(walk);
	}
	good = walk_check_entry(walk, name, &named, flags);
	walk_close(fd);
	if (!good)
		return -1;
	fd = openat(walk->directory, name, flags | O_NOFOLLOW | O_CLOEXEC, OUTPUT_FILE_MODE);
	if (fd < 0)
		return walk_fail(walk);
	if (fstat(fd, &opened) == 0 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
		return fd;
	close(fd);
	errno = ENOENT;
	return walk_fail(walk);
}

/* Opens the last component, which is not a link. */
static int
walk_open_last(const struct output_walk *walk, const char *name, int flags)
{
	int fd = -1;

	if ((flags & O_CREAT) == 0)
		return walk_open_existing(walk, name, flags);
	for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
		fd = openat(walk->directory, name, flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OUTPUT_FILE_MODE);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST || (flags & O_EXCL) != 0)
			return walk_fail(walk);
		fd = walk_open_existing(walk, name, flags & ~O_CREAT);
		if (fd >= 0 || errno != ENOENT)
			return fd;
	}
	return fd;
}

static bool
walk_in_procfs(const struct output_walk *walk)
{
	struct statfs system;

	return fstatfs(walk->directory, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* Takes one step.  True if the walk goes on; at its end `*result` is the opened file or -1. */
static bool
walk_step(struct output_walk *walk, int flags, int *result)
{
	char name[NAME_MAX + 1];
	struct stat entry = {0};
	bool last = false, good;
	int fd;

	if (!walk_next_name(walk, name, &last))
		return false;
	fd = openat(walk->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &entry) == 0 && S_ISLNK(entry.st_mode) && !walk_in_procfs(walk)) {
		good = walk_check_entry(walk, name, &entry, flags) && walk_follow(walk, fd);
		walk_close(fd);
		return good;
	}
	if (fd >= 0 && !last && S_ISDIR(entry.st_mode)) {
		if (walk_check_entry(walk, name, &entry, flags))
			return walk_enter(walk, fd);
		walk_close(fd);
		return false;
	}
	good = fd < 0 || !S_ISLNK(entry.st_mode);
	if (fd >= 0)
		walk_close(fd);
	if (!last)
		return walk_enter(
		    walk, openat(walk->directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC | (good ? O_NOFOLLOW : 0)));
	if (good) {
		*result = walk_open_last(walk, name, flags);
	} else {
		*result = openat(walk->directory, name, (flags & ~O_CREAT) | O_CLOEXEC);
		if (*result < 0)
			walk_fail(walk);
	}
	return false;
}

int
output_path_open(const char *path, int flags, char error[OUTPUT_PATH_ERROR_MAX])
{
	struct output_walk walk = {.directory = -1, .path = path, .error = error};
	int fd = -1;

	errno = *path == '\0' ? ENOENT : ENAMETOOLONG;
	if (*path == '\0' || strlen(path) >= sizeof walk.pending)
		return walk_fail(&walk);
	snprintf(walk.pending, sizeof walk.pending, "%s", path);
	if (walk_start(&walk, path))
		while (walk_step(&walk, flags, &fd))
			continue;
	if (walk.directory >= 0)
		walk_close(walk.directory);
	return fd;
}

bool
output_path_split(const char *path, char directory[PATH_MAX], const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash != NULL ? slash + 1 : path;
	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (slash == NULL)
		snprintf(directory, PATH_MAX, ".");
	else
		snprintf(directory, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	return true;
}

bool
output_path_resolve(const char *path, char resolved[PATH_MAX], char error[OUTPUT_PATH_ERROR_MAX])
{
	char descriptor[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
	int fd = output_path_open(path, O_PATH, error);
	ssize_t length;

	if (fd < 0)
		return false;
	snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", fd);
	length = readlink(descriptor, resolved, PATH_MAX);
	if (length == PATH_MAX) {
		errno = ENAMETOOLONG;
		length = -1;
	}
	if (length < 0)
		output_path_fail(path, error);
	else
		resolved[length] = '\0';
	walk_close(fd);
	return length >= 0;
}

/* Whether only root, this user and the caller of sudo can give the entry of a directory to another file. */
static bool
entry_is_firm(const struct stat *directory, const struct stat *entry)
{
	bool sticky = (directory->st_mode & S_ISVTX) != 0 && user_is_trusted(directory->st_uid);

	if (!directory_is_open(directory) || (sticky && user_is_trusted(entry->st_uid)))
		return true;
	return user_is_caller(directory->st_uid) && (directory->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool
output_path_is_firm(const char *resolved)
{
	char path[PATH_MAX];
	struct stat directory, entry;

	if (stat("/", &directory) != 0)
		return false;
	for (const char *end = resolved; *end != '\0'; directory = entry) {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		if ((size_t)snprintf(path, sizeof path, "%.*s", (int)(end - resolved), resolved) >= sizeof path)
			return false;
		if (lstat(path, &entry) != 0 || !entry_is_firm(&directory, &entry))
			return false;
	}
	return true;
}

int
output_path_open_directory(const char *path, int flags, const char **name, char error[OUTPUT_PATH_ERROR_MAX])
{
	char directory[PATH_MAX];

	if (output_path_split(path, directory, name))
		return output_path_open(directory, flags | O_DIRECTORY, error);
	return output_path_fail(path, error);
}

/* Creates a file in an open directory, and removes its name: not every file system has O_TMPFILE. */
static int
directory_open_removed(int directory)
{
	char name[sizeof "netobs." + 16];
	uint64_t random;
	int fd = -1;

	for (unsigned i = 0; i < ATTEMPTS_MAX && fd < 0; i++) {
		if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
			return -1;
		snprintf(name, sizeof name, "netobs.%016" PRIx64, random);
		fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd >= 0)
		(void)unlinkat(directory, name, 0);
	return fd;
}

int
output_path_open_unnamed(const char *path, char error[OUTPUT_PATH_ERROR_MAX])
{
	int directory = output_path_open(path, O_PATH | O_DIRECTORY, error), fd;

	if (directory < 0)
		return -1;
	fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = directory_open_removed(directory);
	if (fd < 0)
		output_path_fail(path, error);
	walk_close(directory);
	return fd;
}

/* -------------------------------------------------------------------------------------------------- descriptor path */

int
descriptor_of_path(const char *path)
{
	static const char *const streams[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; path != NULL && i < sizeof streams / sizeof streams[0]; i++)
		if (strcmp(path, streams[i]) == 0)
			return (int)i;
	for (size_t i = 0; path != NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t length = strlen(prefixes[i]);
		const char *number = path + length;
		unsigned long fd;
		char *end;

		if (strncmp(path, prefixes[i], length) != 0 || *number < '0' || *number > '9')
			continue;
		fd = strtoul(number, &end, 10);
		if (*end == '\0' && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}
